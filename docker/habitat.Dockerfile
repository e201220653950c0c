# The worker of the pool `habitat`. Habitat-Sim comes by conda for Python 3.9, the project needs 3.11 or newer: the worker
# runs in the one, and the other stands beside it where WORLDAUDIT_HABITAT_PYTHON says. No Habitat world is written yet.
#   docker build -f docker/habitat.Dockerfile -t worldaudit-habitat .
FROM mambaorg/micromamba:2.0.5 AS habitat
RUN micromamba create -y -p /opt/conda/envs/habitat -c conda-forge -c aihabitat \
        python=3.9 "habitat-sim=0.3.3" headless withbullet "numpy<2" \
 && micromamba clean --all --yes

FROM python:3.12-slim
COPY --from=habitat /opt/conda/envs/habitat /opt/conda/envs/habitat
RUN apt-get update \
 && apt-get install -y --no-install-recommends git libgl1 libegl1 libgl1-mesa-dri libopengl0 libglu1-mesa libfontconfig1 libfreetype6 \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /worldaudit
COPY requirements.lock pyproject.toml LICENSE README.md ./
RUN pip install --no-cache-dir -r requirements.lock
COPY flows flows
COPY tasks tasks
COPY storage storage
COPY worldaudit worldaudit
COPY deployments deployments
RUN pip install --no-cache-dir --no-deps -e . \
 && useradd --create-home audit && mkdir /store && chown audit /store

USER audit
ENV WORLDAUDIT_HOME=/worldaudit WORLDAUDIT_STORE=/store DO_NOT_TRACK=1 \
    WORLDAUDIT_HABITAT_PYTHON=/opt/conda/envs/habitat/bin/python \
    MAGNUM_LOG=quiet HABITAT_SIM_LOG=quiet
ENTRYPOINT ["prefect"]
CMD ["worker", "start", "--pool", "habitat", "--type", "process"]
