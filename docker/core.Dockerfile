# The worker of the pools `cpu` and `inference` (hosted judges), and the command `worldaudit`.
#   docker build -f docker/core.Dockerfile -t worldaudit-core .
FROM python:3.12-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends git libgl1 libglu1-mesa libegl1 libgl1-mesa-dri libfontconfig1 libfreetype6 \
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
ENV WORLDAUDIT_HOME=/worldaudit WORLDAUDIT_STORE=/store DO_NOT_TRACK=1 PYGLET_HEADLESS=1
# Once, so that a command without a server of its own does not migrate a database first.
RUN python -m flows.operations.server prepare
ENTRYPOINT ["worldaudit"]
CMD ["--help"]
