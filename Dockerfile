# One image for every process; the command chooses which:
#   python -m services.gateway | services.scheduler | services.worker ROOM ... | shared.ledger.migrate
FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN /venv/bin/pip install --no-cache-dir --requirement requirements.lock
COPY shared shared
COPY services services
RUN /venv/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home touchstone && install --directory --owner touchstone /files
COPY --from=build /venv /venv
WORKDIR /app
COPY models.toml .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8000
CMD ["python", "-m", "services.gateway"]
