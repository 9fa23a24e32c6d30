# One file, four targets (docker build --target NAME .); each process names the one it runs in:
#   gateway     services.gateway, services.scheduler, shared.ledger.migrate, touchstone: no model code
#   metrics     services.worker METRIC, which asks for models by queue: no torch
#   models      services.worker inference | similarity, on CPUs
#   models-gpu  the same on an NVIDIA GPU, one process a device. torch's wheels bring CUDA, the
#               container runtime the driver: no CUDA image is needed below them
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS base
RUN useradd --uid 10001 --create-home touchstone \
    && install --directory --owner touchstone --group touchstone /files /models
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1

FROM base AS build
RUN python -m venv /venv
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY pyproject.toml README.md LICENSE ./
COPY requirements/install.sh requirements/*.lock requirements/

FROM build AS build-guide
RUN sh requirements/install.sh /venv/bin/python guide
COPY mkdocs.yml .
COPY docs/guide docs/guide
RUN NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

FROM build AS build-gateway
RUN sh requirements/install.sh /venv/bin/python gateway object-storage
COPY shared shared
COPY services services
COPY sdk sdk
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation ./sdk \
    && /venv/bin/pip inspect > /venv/sbom.json \
    && /venv/bin/pip uninstall --yes setuptools pip

FROM build AS build-metrics
RUN sh requirements/install.sh /venv/bin/python metrics
COPY shared shared
COPY services services
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /venv/bin/pip inspect > /venv/sbom.json \
    && /venv/bin/pip uninstall --yes pip

FROM build AS build-models
RUN PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu \
    sh requirements/install.sh /venv/bin/python models openvino torch-cpu
COPY shared shared
COPY services services
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /venv/bin/pip inspect > /venv/sbom.json \
    && /venv/bin/pip uninstall --yes pip

FROM build AS build-models-gpu
RUN sh requirements/install.sh /venv/bin/python models torch-gpu
COPY shared shared
COPY services services
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /venv/bin/pip inspect > /venv/sbom.json \
    && /venv/bin/pip uninstall --yes pip

# build with --build-arg VERSION=1.2.3 --build-arg REVISION=$(git rev-parse HEAD); what is installed
# is in /venv/sbom.json, as `pip inspect` says it
FROM base AS labelled
ARG VERSION=0.1.0 REVISION=unknown
LABEL org.opencontainers.image.title="Touchstone" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" org.opencontainers.image.revision="$REVISION"
ENV TOUCHSTONE_METRICS_PORT=9100

FROM labelled AS gateway
COPY --from=build-gateway /venv /venv
COPY --from=build-guide /app/site site
COPY models.toml .
USER 10001
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "services.gateway"]

FROM labelled AS metrics
COPY --from=build-metrics /venv /venv
COPY models.toml .
USER 10001
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9100/healthz', timeout=4)"]
CMD ["python", "-m", "services.worker", "hatexscore"]

FROM labelled AS models
COPY --from=build-models /venv /venv
COPY models.toml .
USER 10001
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9100/healthz', timeout=4)"]
CMD ["python", "-m", "services.worker", "inference", "similarity"]

FROM labelled AS models-gpu
COPY --from=build-models-gpu /venv /venv
COPY models.toml .
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9100/healthz', timeout=4)"]
CMD ["python", "-m", "services.worker", "inference", "similarity"]
