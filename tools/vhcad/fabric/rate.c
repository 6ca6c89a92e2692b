// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fabric/rate.h"

static const struct {
	const char *name;
	u16 code;
	u32 lane_kbps;		/* 8b/10b up to QDR, 64b/66b from there */
} speeds[] = {
	{ "SDR", 1, 2000000 },
	{ "DDR", 2, 4000000 },
	{ "QDR", 4, 8000000 },
	{ "FDR10", 8, 10000000 },
	{ "FDR", 16, 13636364 },
	{ "EDR", 32, 25000000 },
	{ "HDR", 64, 50000000 },
	{ "NDR", 128, 100000000 },
};

static const struct {
	const char *name;
	u8 code, lanes;
} widths[] = {
	{ "1X", 1, 1 },
	{ "2X", 16, 2 },
	{ "4X", 2, 4 },
	{ "8X", 4, 8 },
	{ "12X", 8, 12 },
};

/* Widths as the verbs count them; of several links the one that is in use. */
static const struct {
	const char *gbps, *name;
} sums[] = {
	{ "2.5", "1X SDR" }, { "5", "1X DDR" }, { "10", "4X SDR" }, { "14", "1X FDR" },
	{ "20", "4X DDR" }, { "25", "1X EDR" }, { "28", "2X FDR" }, { "30", "12X SDR" },
	{ "40", "4X QDR" }, { "50", "1X HDR" }, { "56", "4X FDR" }, { "60", "12X DDR" },
	{ "80", "8X QDR" }, { "100", "4X EDR" }, { "112", "8X FDR" }, { "120", "12X QDR" },
	{ "168", "12X FDR" }, { "200", "4X HDR" }, { "300", "12X EDR" }, { "400", "4X NDR" },
	{ "600", "12X HDR" }, { "800", "8X NDR" }, { "1200", "12X NDR" },
};

static int speed_of(const char *word)
{
	for (u32 i = 0; i < ARRAY_SIZE(speeds); i++)
		if (!strcasecmp(word, speeds[i].name))
			return i;
	return -1;
}

static int width_of(const char *word)
{
	for (u32 i = 0; i < ARRAY_SIZE(widths); i++)
		if (!strcasecmp(word, widths[i].name))
			return i;
	return -1;
}

static bool from_sum(const char *word, const char *unit, struct fab_rate *r)
{
	if (*unit && strcasecmp(unit, "Gb/s"))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(sums); i++)
		if (!strcmp(word, sums[i].gbps))
			return fab_rate_parse(sums[i].name, r);
	return false;
}

bool fab_rate_parse(const char *text, struct fab_rate *r)
{
	char one[8], two[8] = "";
	int end = 0, words, speed, width;

	words = sscanf(text, "%7s%n %7s%n", one, &end, two, &end);
	if (words < 1 || text[end])
		return false;
	speed = speed_of(one);
	width = words == 1 ? width_of("4X") : width_of(two);
	if (speed < 0 && words == 2) {
		speed = speed_of(two);
		width = width_of(one);
	}
	if (speed < 0)
		return from_sum(one, two, r);
	if (width < 0)
		return false;
	*r = (struct fab_rate){ .width = widths[width].code, .speed = speeds[speed].code };
	return true;
}

static u32 speed_at(const struct fab_rate *r)
{
	u32 i = 0;

	while (speeds[i].code != r->speed)
		i++;
	return i;
}

static u32 width_at(const struct fab_rate *r)
{
	u32 i = 0;

	while (widths[i].code != r->width)
		i++;
	return i;
}

const char *fab_rate_name(const struct fab_rate *r, char *name)
{
	snprintf(name, FAB_RATE_NAME, "%s %s", widths[width_at(r)].name, speeds[speed_at(r)].name);
	return name;
}

u64 fab_rate_kbps(const struct fab_rate *r)
{
	return (u64)widths[width_at(r)].lanes * speeds[speed_at(r)].lane_kbps;
}

/* PortInfo's codes of speeds: of LinkSpeed up to QDR, of LinkSpeedExt from FDR on. */
#define LINK_QDR	4u
#define LINK_UP_TO_QDR	7u

void fab_rate_codes(const struct fab_rate *r, struct port_speed *s)
{
	/* 1X, and the link's own width; ports of 8 and of 12 lanes also work with 4 */
	static const u8 narrower[] = {
		[1] = 0x01, [2] = 0x03, [4] = 0x07, [8] = 0x0b, [16] = 0x11,
	};
	u16 ext = r->speed >> 4;

	*s = (struct port_speed){
		.width_supported = narrower[r->width],
		.width_active = r->width,
		.speed_supported = LINK_UP_TO_QDR,
		.speed_active = MIN(r->speed, LINK_QDR),
		.speed_ext_supported = ext ? 2 * ext - 1 : 0,
		.speed_ext_active = ext,
	};
}
