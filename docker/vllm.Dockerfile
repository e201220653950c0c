# The worker of the pool `inference` on a machine with a GPU: it starts `vllm serve` for the judges whose table asks so.
#   docker build -f docker/vllm.Dockerfile -t worldaudit-vllm .
# vLLM and the project live in environments of their own: their pins need not agree.
# 0.32.0 is the first version without GHSA-542m-9234-8gvf; docs/operator.md names what earlier ones have.
ARG VLLM=v0.32.0
FROM vllm/vllm-openai:${VLLM}

RUN apt-get update \
 && apt-get install -y --no-install-recommends git python3-venv libgl1 libglu1-mesa libegl1 libgl1-mesa-dri libfontconfig1 \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /worldaudit
COPY requirements.lock pyproject.toml LICENSE README.md ./
RUN python3 -m venv /opt/worldaudit && /opt/worldaudit/bin/pip install --no-cache-dir -r requirements.lock
COPY flows flows
COPY tasks tasks
COPY storage storage
COPY worldaudit worldaudit
COPY deployments deployments
RUN /opt/worldaudit/bin/pip install --no-cache-dir --no-deps -e . \
 && ln -s /opt/worldaudit/bin/worldaudit /opt/worldaudit/bin/prefect /usr/local/bin/ \
 && useradd --create-home audit && mkdir -p /store && chown audit /store

USER audit
ENV WORLDAUDIT_HOME=/worldaudit WORLDAUDIT_STORE=/store DO_NOT_TRACK=1
ENTRYPOINT ["prefect"]
CMD ["worker", "start", "--pool", "inference", "--type", "process"]
