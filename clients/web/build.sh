#!/usr/bin/env bash
# build.sh FOLDER: the pages for browsers, built into FOLDER. Where they cannot be built it says why and leaves with 0, for
# the server runs without them. What was built already from the same sources is taken as it is.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$1
built=$top/build/pages # of the newest sources, for all build directories
log=$top/build/log/pages.log

without() {
	printf 'The server is built without its pages for browsers: %s (log: build/log/pages.log)\n' "$1" >&2
	exit 0
}

sources() {
	(cd "$top" && find package.json package-lock.json tsconfig.base.json clients/js clients/web \
		\( -name node_modules -o -name built \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
}

# The packages of the lock file, and no others.
install_packages() {
	cmp -s "$top/package-lock.json" "$top/node_modules/.sandbar-lock" && return
	(cd "$top" && npm ci --ignore-scripts --no-audit --no-fund) && cp "$top/package-lock.json" "$top/node_modules/.sandbar-lock"
}

build_pages() {
	cd "$top"
	npm run --silent build -w clients/js
	SANDBAR_PAGES="$built.part" npm run --silent build -w clients/web
	sources >"$built.part/.sources"
	rm -rf "$built"
	mv "$built.part" "$built"
}

mkdir -p "$top/build/log"
exec 9>"$top/build/log/pages.lock"
flock 9
if ! sources | cmp -s - "$built/.sources"; then
	install_packages >"$log" 2>&1 || without "npm ci failed"
	build_pages >>"$log" 2>&1 || without "they do not build"
fi
rm -rf "$folder"
cp -r "$built" "$folder"
