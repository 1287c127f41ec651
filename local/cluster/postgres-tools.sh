#!/bin/sh
# Builds the programs that Patroni calls and npm's Postgres lacks, from Debian's source package of the same major version.
# Usage: postgres-tools.sh <folder> <major>. Needs apt, gcc, make, bison, flex and perl; takes a minute, once per machine.
set -eu
target=$1
major=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main' >"$work/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@"
}
cd "$work"
apt update
apt source --download-only "postgresql-$major"
tar xjf postgresql-"$major"_*.orig.tar.bz2
cd postgresql-"$major"*/
./configure --quiet --prefix="$target" --without-icu --without-readline --without-zlib
make -s -j2 -C src/backend generated-headers
for part in interfaces/libpq bin/pg_basebackup bin/pg_controldata; do make -s -j2 -C "src/$part" install; done
make -s -j2 -C src/bin/scripts pg_isready
cp src/bin/scripts/pg_isready "$target/bin/"
