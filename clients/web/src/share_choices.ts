import type { RoleName } from "sandbar";

/** What whoever makes a link or a tag can say of it: values, and how they read in a sentence. */

const HOUR_MS = 3_600_000;

export const ROLES: readonly (readonly [RoleName, string])[] = [
	["viewer", "who may watch"],
	["editor", "who may type"],
	["owner", "who may do everything"],
];
export const TIMES: readonly (readonly [string, string])[] = [
	[String(HOUR_MS), "for an hour"],
	[String(24 * HOUR_MS), "for a day"],
	["0", "as long as the session"],
];
export const USES: readonly (readonly [string, string])[] = [
	["1", "one person"],
	["5", "five people"],
	["50", "fifty people"],
];
export const FIRST_TIME = HOUR_MS;
