#!/bin/sh
# Exit code 1 says that the program in $1 is still interesting.
if grep -q 'tofu.mesh' "$1"; then exit 1; fi
exit 0
