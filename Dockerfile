# Three of the four images (docker build --target NAME .); Dockerfile.gpu builds the fourth.
#   gateway  services.gateway, services.scheduler, shared.ledger.migrate, touchstone: no model code
#   metrics  services.worker METRIC, which requests model outputs through a queue: no torch
#   models   services.worker inference and similarity on CPUs, and `python -m cli models`
# .dockerignore lists the files that a build can see. /venv/sbom.cdx.json lists the installed packages
# (CycloneDX). `make images` builds these three and labels them with the version and the commit.
# By hand: --build-arg VERSION=1.2.3 --build-arg REVISION=$(git rev-parse HEAD)
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS base
RUN useradd --uid 10001 --create-home touchstone \
    && install --directory --owner touchstone --group touchstone /files /models
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1

FROM base AS build
RUN python -m venv /venv
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements requirements

FROM build AS build-guide
RUN sh requirements/install.sh /venv/bin/python guide
COPY mkdocs.yml .
COPY docs/guide docs/guide
RUN NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

FROM build AS build-gateway
RUN sh requirements/install.sh /venv/bin/python gateway object-storage
COPY . .
RUN pip install --no-deps --no-build-isolation . ./sdk \
    && python requirements/sbom.py gateway object-storage > /venv/sbom.cdx.json \
    && pip uninstall --yes setuptools pip

FROM build AS build-metrics
RUN sh requirements/install.sh /venv/bin/python metrics
COPY . .
RUN pip install --no-deps --no-build-isolation . \
    && python requirements/sbom.py metrics > /venv/sbom.cdx.json \
    && pip uninstall --yes pip

FROM build AS build-models
RUN sh requirements/install.sh /venv/bin/python models openvino torch-cpu
COPY . .
RUN pip install --no-deps --no-build-isolation . \
    && python requirements/sbom.py models openvino torch-cpu > /venv/sbom.cdx.json \
    && pip uninstall --yes pip

FROM base AS process
ARG VERSION=0.1.0 REVISION=unknown
LABEL org.opencontainers.image.vendor="Touchstone" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.base.name="docker.io/library/python:3.11-slim"
ENV TOUCHSTONE_METRICS_PORT=9100
COPY models.toml .
USER 10001
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9100/healthz', timeout=4)"]

FROM process AS gateway
LABEL org.opencontainers.image.title="Touchstone gateway" \
      org.opencontainers.image.description="API, pages, scheduler and migrations"
COPY --from=build-gateway /venv /venv
COPY --from=build-guide /app/site site
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "services.gateway"]

FROM process AS metrics
LABEL org.opencontainers.image.title="Touchstone metrics" \
      org.opencontainers.image.description="Workers of metrics, without torch"
COPY --from=build-metrics /venv /venv
CMD ["python", "-m", "services.worker", "hatexscore"]

FROM process AS models
LABEL org.opencontainers.image.title="Touchstone models" \
      org.opencontainers.image.description="Inference and similarity on CPUs"
COPY --from=build-models /venv /venv
CMD ["python", "-m", "services.worker", "inference", "similarity"]
