#!/bin/sh
# Updates the digests of the base images in every file that names them, and prints old and new.
#   sh requirements/bases.sh [--check]    --check: changes nothing, exits with 1 if a digest is old
# Needs docker with buildx, and the network. Run the tests of tests/deployment afterwards.
set -eu
cd "$(dirname "$0")/.."
named() { grep -rhoE '[a-z0-9./-]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}' Dockerfile* docker-compose.yml k8s | sort -u; }
stale=0
for image in $(named); do
  tag=${image%@*} old=${image#*@}
  new=$(docker buildx imagetools inspect "$tag" --format '{{.Manifest.Digest}}')
  case $new in sha256:*) ;; *) echo "$tag: the registry says no digest" >&2; exit 1 ;; esac
  if [ "$new" = "$old" ]; then
    echo "$tag $old is the newest"
  else
    echo "$tag $old -> $new"
    stale=1
    [ "${1:-}" = --check ] || grep -rlF "$image" Dockerfile* docker-compose.yml k8s |
      while read -r file; do sed -i "s|$image|$tag@$new|g" "$file"; done
  fi
done
[ "${1:-}" != --check ] || exit $stale
