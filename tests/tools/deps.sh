#!/bin/sh
# Installs what building and testing occamyc needs on Debian 12: deps.sh [PACKAGE...]; without packages, the list below.
# What is present is left alone, so a second run does nothing. Needs root or sudo only where something is missing.
set -eu

# The compiler itself: gcc make protobuf-c. The tests: clang, clang-format, cmocka, Python with virtual environments.
BASE="gcc libc6-dev make protobuf-c-compiler libprotobuf-c-dev clang clang-format libcmocka-dev python3 python3-venv"

missing_packages() {
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
        installed) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

[ $# -gt 0 ] || set -- $BASE
if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "deps.sh: this is not Debian; please install the counterparts of: $*" >&2
    exit 0
fi
missing=$(missing_packages "$@")
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "deps.sh: missing: $missing" >&2
        echo "deps.sh: neither root nor sudo is at hand; run as root: apt-get install $missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "deps.sh: installing: $missing"
export DEBIAN_FRONTEND=noninteractive
install="$as_root apt-get install -y -q --no-install-recommends"
# shellcheck disable=SC2086    # lists of words
$install $missing || { $as_root apt-get update -q && $install $missing; }
