# Removes the superseded generations of one cache tier. A generation is a
# directory directly under $PARENT that holds at least one page ($PAGE, a list of
# name patterns) and nothing else but pages that are not whole ($PARTIAL). With
# $TREES a page is a directory or file with all that lies in it. Kept are the
# newest generation, those a manifest names ($KEEP), whatever was written within
# $KEEP_FOR_MINUTES, and all that is no generation. $KEEP and $RESERVED are lists
# of names with a slash before, between and behind them. A generation that this
# job has begun to remove bears $begun, so that the next run finishes it.
# kubelet and Flux read this text too: it uses only forms they leave alone.
IFS=' '
begun=.trimtab-removes

# any PATH TEST...: whether find finds anything; it stops at the first.
# shellcheck disable=SC2034
any() { find "$@" 2>/dev/null | { read -r first; }; }

# $whole, $part and $kind are tests for find, in words that the shell splits.
whole="-name /"
for glob in $PAGE; do whole="$whole -o -name $glob"; done
part="$whole"
[ -z "$PARTIAL" ] || part="$whole -o -name $PARTIAL"
kind="-type f"
[ -z "$TREES" ] || kind=""

# top NAME TEST...: whether a generation itself holds such an entry.
top() {
  name="$1"
  shift
  any "./$name" -mindepth 1 -maxdepth 1 "$@"
}

# inside NAME TEST...: whether it holds such a file, in a tree at any depth.
inside() {
  name="$1"
  shift
  if [ -n "$TREES" ]; then
    any "./$name" -mindepth 1 -xdev ! -type d ! -name "$begun" "$@"
  else
    any "./$name" -mindepth 1 -maxdepth 1 ! -name "$begun" "$@"
  fi
}

# classify NAME: sets $why to what keeps it from being a generation.
# shellcheck disable=SC2086 # $kind, $whole and $part are several words
classify() {
  why=""
  case "$1" in .*) why="hidden"; return ;; esac
  if ! top "$1" $kind \( $whole \); then
    why="no page in it"
  elif top "$1" ! \( -type f -name "$begun" \) ! \( $kind \( $part \) \); then
    why="not only pages in it"
  elif [ "$mounts" != 0 ] && [ "$(stat -c %d "./$1" 2>/dev/null)" != "$device" ]; then
    why="another file system"
  elif [ -n "$TREES" ] && find "./$1" -type d -exec stat -c %d {} + 2>/dev/null | grep -qvx "$device"; then
    why="another file system in it"
  fi
}

# pages NAME: removes the pages of a generation, nothing else.
# shellcheck disable=SC2086
pages() {
  if [ -n "$TREES" ]; then
    find "./$1" -mindepth 2 -xdev ! -type d -exec rm -f -- {} +
    find "./$1" -mindepth 2 -xdev -depth -type d -exec rmdir -- {} + 2>/dev/null
    find "./$1" -mindepth 1 -maxdepth 1 -type d \( $part \) -exec rmdir -- {} + 2>/dev/null
  fi
  find "./$1" -mindepth 1 -maxdepth 1 ! -type d \( $part \) -exec rm -f -- {} +
}

# prune NAME: removes the pages, then the empty directory. A writer that came
# back meanwhile is no failure.
prune() {
  [ -L "./$1/$begun" ] || true 2>/dev/null >"./$1/$begun"
  pages "$1" >/dev/null 2>&1
  if ! inside "$1"; then rm -f -- "./$1/$begun" 2>/dev/null; fi
  rmdir -- "./$1" 2>/dev/null
  if [ ! -d "./$1" ]; then
    say removed "$1"
    removed=$((removed + 1))
  elif inside "$1" && ! inside "$1" ! -mmin "-$KEEP_FOR_MINUTES"; then
    rm -f -- "./$1/$begun" 2>/dev/null
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
  if [ -n "$TREES" ] && any "./$1" -xdev -mmin "-$KEEP_FOR_MINUTES" || any "./$1" -maxdepth 1 -mmin "-$KEEP_FOR_MINUTES"; then
    keep "written within $KEEP_FOR_MINUTES minutes" "$1"
  else
    prune "$1"
  fi
}

# forget NAME: takes the mark away, and leaves the directory as old as it was.
forget() {
  since="$(stat -c %Y "./$1")"
  rm -f -- "./$1/$begun" 2>/dev/null
  touch -d "@$since" "./$1" 2>/dev/null
}

# resumed NAME: goes on with a generation that an earlier run began to remove,
# unless a manifest names it by now or it was written since.
resumed() {
  [ -f "./$1/$begun" ] && [ ! -L "./$1/$begun" ] || return 1
  case "$KEEP" in *"/$1/"*) forget "$1"; return 1 ;; esac
  if inside "$1" -newer "./$1/$begun"; then
    forget "$1"
    return 1
  fi
  prune "$1"
}

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
set +f
for entry in */ .[!.]*/ ..?*/; do
  set -f
  IFS=/
  # shellcheck disable=SC2086 # the name before the slash
  set -- $entry
  IFS=' '
  if [ -L "./$1" ] || [ ! -d "./$1" ]; then continue; fi
  case "$RESERVED" in *"/$1/"*) say "kept: used elsewhere" "$1"; continue ;; esac
  if resumed "$1"; then continue; fi
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
