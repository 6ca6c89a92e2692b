# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Progress of making parts: on a terminal one line with a bar and the time left, which is redrawn each
# second. A log has only the plain lines, which are always printed.

progress_width=24
progress_total=0 progress_done=0 progress_pid=

# progress_expected PART: the seconds that it took here, or takes with a mirror nearby
progress_expected() {
	local took
	took=$(sed -n "s/^$1 //p" "$CACHE/took" 2>/dev/null)
	[ -z "$took" ] || {
		echo "$took"
		return
	}
	case $1 in
	guest-root | tools-root | i386-root) echo 120 ;;
	debug-kernel) echo 700 ;;
	qemu-root | linux-source | kernel-*) echo 60 ;;
	*) echo 10 ;;
	esac
}

# progress_of PART...: these are going to be made
progress_of() {
	local name
	progress_total=0 progress_done=0
	for name; do progress_total=$((progress_total + $(progress_expected "$name"))); done
}

# progress_line PART SECONDS: the bar of a part that has been under way for SECONDS
progress_line() {
	local expected now filled left
	expected=$(progress_expected "$1")
	# the bar of a part that takes longer than expected stops shortly before its end
	now=$((progress_done + ($2 < expected ? $2 : expected - 1)))
	left=$((progress_total - now))
	filled=$((progress_width * now / progress_total))
	printf '[%-*s] %d %%, %s, about %s left' "$progress_width" \
		"$(printf '%*s' "$filled" '' | tr ' ' '#')" $((100 * now / progress_total)) "$1" \
		"$([ "$left" -ge 100 ] && echo "$(((left + 30) / 60)) min" || echo "$left s")"
}

# progress_start PART
progress_start() {
	[ -t 2 ] && [ "$progress_total" -gt 0 ] || return 0
	local started=$SECONDS
	printf '\r%s\033[K' "$(progress_line "$1" 0)" >&2
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		printf '\r%s\033[K' "$(progress_line "$1" $((SECONDS - started)))" >&2
	done &
	progress_pid=$!
}

progress_stop() {
	[ -n "$progress_pid" ] || return 0
	kill "$progress_pid"
	wait "$progress_pid" 2>/dev/null || true
	progress_pid=
	printf '\r\033[K' >&2
}

# progress_made PART SECONDS
progress_made() {
	progress_done=$((progress_done + $(progress_expected "$1")))
	{
		grep -v "^$1 " "$CACHE/took" 2>/dev/null || true
		echo "$1 $2"
	} >"$CACHE/took.new"
	mv "$CACHE/took.new" "$CACHE/took"
}
