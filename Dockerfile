# One image for every process; the command chooses which:
#   python -m services.gateway | services.scheduler | services.worker SERVICE ... | shared.ledger.migrate
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS build
WORKDIR /app
RUN python -m venv /venv
COPY install.sh requirements*.lock pyproject.toml README.md LICENSE ./
RUN PIP_NO_CACHE_DIR=1 sh install.sh /venv/bin/python
COPY shared shared
COPY services services
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
RUN useradd --uid 10001 --create-home touchstone && install --directory --owner touchstone /files
COPY --from=build /venv /venv
WORKDIR /app
COPY models.toml .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8000
CMD ["python", "-m", "services.gateway"]
