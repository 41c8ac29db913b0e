#!/bin/sh
# Installs the programs that do not come as Python packages: Java 17 or newer, which Spark starts,
# Graphviz's dot, which draws, and PostgreSQL, which tests start in a temporary folder. Nothing else
# depends on them, so whatever cannot be installed is named in one line and the set-up goes on.
set -u

# Old releases call themselves 1.8; what counts is then the second number.
java_release() {
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 |
        sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1
}

has_java() {
    release=$(java_release)
    [ "${release:-0}" -ge 17 ]
}

has_dot() {
    command -v dot >/dev/null 2>&1
}

# Debian has the server's programs in a folder that is on nobody's path.
has_postgres() {
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

missing_packages() {
    has_java || printf ' default-jre-headless'
    has_dot || printf ' graphviz'
    has_postgres || printf ' postgresql'
}

# Prints what to put before apt-get, or fails where this user may not install.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        printf ''
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        printf 'sudo -n'
    else
        return 1
    fi
}

# The lists of a fresh machine are empty, so they are fetched first. A failed fetch is no
# reason to give up: the package may be in lists that are already there.
apt_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    prefix=$(as_root) || return 1
    echo "setup: installing$1 with apt-get"
    $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null >/dev/null 2>&1
    # $1 is a list of packages, split on purpose.
    # shellcheck disable=SC2086
    $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes \
        --no-install-recommends $1 </dev/null >/dev/null
}

packages=$(missing_packages)
[ -z "$packages" ] && exit 0
apt_install "$packages"

has_java || echo "setup: Spark needs Java 17 or newer: install it (Debian: default-jre-headless)" \
    "or set JAVA_HOME; everything else works without it"
has_dot || echo "setup: SVG, PNG and PDF need Graphviz's dot: install it (Debian: graphviz);" \
    "until then Mermaid is written instead"
has_postgres || echo "setup: tests of stores in PostgreSQL need its server: install it (Debian:" \
    "postgresql); until then they are skipped"
exit 0
