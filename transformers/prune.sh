# Removes the superseded generations of one cache tier. A generation is a
# directory directly under $PARENT that holds at least one page ($PAGE) and
# nothing else. Kept are the newest one, those a manifest names ($KEEP), whatever
# was written within $KEEP_FOR_MINUTES, and all that is no generation. $KEEP and
# $RESERVED are lists of names with a slash before, between and behind them.
# kubelet and Flux read this text too: it uses only forms they leave alone.
set -u

# say WHAT NAME: one line for each name, control characters as "?".
say() {
  shown="$2"
  case "$shown" in
    *[[:cntrl:]]*) shown="$(printf %s "$2" | tr '\001-\037\177' '?')" ;;
  esac
  printf '%s: %s\n' "$1" "$shown"
}

# any PATH TEST...: whether find finds anything; it stops at the first.
any() { find "$@" 2>/dev/null | { read -r first; }; }

# classify NAME: sets $why to what keeps it from being a generation.
classify() {
  why=""
  case "$1" in .*) why="hidden"; return ;; esac
  if ! any "./$1" -mindepth 1 -maxdepth 1 -type f -name "$PAGE"; then
    why="no page in it"
  elif any "./$1" -mindepth 1 -maxdepth 1 ! \( -type f -name "$PAGE" \); then
    why="not only pages in it"
  elif [ "$mounts" != 0 ] && [ "$(stat -c %d "./$1" 2>/dev/null)" != "$device" ]; then
    why="another file system"
  fi
}

# pages NAME: removes the pages of a generation, nothing else.
pages() { find "./$1" -mindepth 1 -maxdepth 1 -type f -name "$PAGE" -exec rm -f -- {} +; }

# prune NAME: removes the pages, then the empty directory. A writer that came
# back meanwhile is no failure.
prune() {
  pages "$1" >/dev/null 2>&1
  rmdir "./$1" 2>/dev/null
  if [ ! -d "./$1" ]; then
    say removed "$1"
    removed=$((removed + 1))
  elif any "./$1" -mindepth 1 -maxdepth 1 && ! any "./$1" -mindepth 1 -maxdepth 1 ! -mmin "-$KEEP_FOR_MINUTES"; then
    keep "being written" "$1"
  else
    say "failed: could not be removed" "$1 ($(pages "$1" 2>&1 | head -n 1))"
    failed=$((failed + 1))
  fi
}

# keep WHY NAME
keep() {
  say "kept: $1" "$2"
  kept=$((kept + 1))
}

# settle NAME: keeps or prunes a generation that is not the newest.
settle() {
  case "$KEEP" in *"/$1/"*) keep "named by a manifest" "$1"; return ;; esac
  if any "./$1" -maxdepth 1 -mmin "-$KEEP_FOR_MINUTES"; then
    keep "written within $KEEP_FOR_MINUTES minutes" "$1"
  else
    prune "$1"
  fi
}

if [ ! -d "$PARENT" ]; then
  say "nothing to do: no such directory" "$PARENT"
  exit 0
fi
{ cd -P "$MOUNT" && root="$PWD" && cd -P "$PARENT" && [ -r . ]; } 2>/dev/null || {
  say "failed: cannot be read" "$PARENT"
  exit 1
}
case "$PWD/" in
  "$root"/*) ;;
  *) say "nothing to do: a link leads out of the volume" "$PARENT"; exit 0 ;;
esac
# Directories that are other file systems; nearly always none.
device="$(stat -c %d .)"
mounts="$(find . -mindepth 1 -maxdepth 1 -type d -exec stat -c %d {} + 2>/dev/null | grep -cvx "$device")"

# Files and links beside the generations: 20 by name, the rest as a count.
find . -mindepth 1 -maxdepth 1 ! -type d -print0 2>/dev/null |
  tr '\001-\037\177' '?' | tr '\000' '\n' |
  awk 'NR <= 20 { print "kept: not a generation: " substr($0, 3) " (no directory)" }
    END { if (NR > 20) print "kept: " NR - 20 " more files and links" }' | sort

# Of two generations the newer one stays for the next comparison, so that one
# name at a time is held. At equal mtimes it is the first.
newest="" removed=0 kept=0 failed=0
IFS=/
for entry in */ .[!.]*/ ..?*/; do
  set -f
  set -- $entry
  set +f
  if [ -L "./$1" ] || [ ! -d "./$1" ]; then continue; fi
  case "$RESERVED" in *"/$1/"*) say "kept: used elsewhere" "$1"; continue ;; esac
  classify "$1"
  if [ -n "$why" ]; then
    case "$KEEP" in
      *"/$1/"*) say "kept: named by a manifest" "$1 ($why)" ;;
      *) say "kept: not a generation" "$1 ($why)" ;;
    esac
  elif [ -z "$newest" ] || [ ! -d "./$newest" ]; then
    newest="$1"
  elif [ "./$1" -nt "./$newest" ]; then
    settle "$newest"
    newest="$1"
  else
    settle "$1"
  fi
done
case "$KEEP" in
  *"/$newest/"*) keep "named by a manifest" "$newest" ;;
  *) [ -z "$newest" ] || keep newest "$newest" ;;
esac
echo "done: $removed generations removed, $kept kept, $failed could not be removed"
[ "$failed" -eq 0 ]
