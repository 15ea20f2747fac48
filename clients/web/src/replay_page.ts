import { Session, SessionView, type SessionInfo } from "sandbar";
import { accountFor, connect, type Fragment } from "./account.js";
import { ICONS, button, fill, h, icon, iconButton, select } from "./dom.js";
import { moment, plain, processTitle } from "./format.js";
import type { PageFrame } from "./frame.js";
import { homeLink, openPage } from "./open_page.js";
import { asciicast } from "./replay/asciicast.js";
import { Player } from "./replay/player.js";
import { Recording, type Track } from "./replay/recording.js";
import { Screen } from "./terminal/screen.js";

const SPEEDS: readonly (readonly [string, string])[] = ["0.5", "1", "2", "4", "8", "16"].map((speed) => [
	speed,
	`${speed}×`,
]);
const STEP_US = 5_000_000;

/** A session from its beginning, on a scrub bar. */
class ReplayPage {
	private player: Player | null = null;
	private screen: Screen | null = null;
	private track: Track | null = null;
	private speed = 1;
	private skipsSilence = true;
	private readonly stage = h("div", { class: "stage" });
	private readonly play = iconButton(ICONS.play, "Play", () => this.toggle());
	private readonly clock = h("span", { class: "clock" }, "00:00");
	private readonly scrub: HTMLInputElement;
	private readonly marks: HTMLElement;

	constructor(
		private readonly frame: PageFrame,
		private readonly recording: Recording,
		private readonly info: SessionInfo,
	) {
		const { end } = recording;
		this.scrub = h("input", {
			type: "range",
			class: "scrub",
			min: 0,
			max: end,
			step: 1000,
			value: 0,
			"aria-label": "Moment",
			on: { input: () => this.jump(Number(this.scrub.value)) },
		});
		this.marks = h(
			"div",
			{ class: "marks" },
			...recording.marks.map(({ t, kind, text }) => {
				const mark = h("button", {
					type: "button",
					class: "mark",
					"data-kind": kind,
					title: text,
					"aria-label": `${moment(t)} ${text}`,
					on: { click: () => this.jump(t) },
				});
				mark.style.left = `${end > 0 ? (100 * t) / end : 0}%`;
				return mark;
			}),
		);
	}

	begin(): void {
		const tracks = this.recording.listed();
		const [first] = tracks;
		const names = tracks.map((track) => [String(track.process.process), nameOf(track)] as const);
		const choose = (value: string): void => {
			const chosen = this.recording.tracks.get(Number(value));
			if (chosen) {
				this.open(chosen);
			}
		};
		const silence = h("input", {
			type: "checkbox",
			checked: true,
			on: { change: () => this.setSilence(silence.checked) },
		});
		const bar = h(
			"div",
			{ class: "player-bar" },
			this.play,
			this.clock,
			h("div", { class: "timeline" }, this.scrub, this.marks),
			h("span", { class: "clock" }, moment(this.recording.end)),
			select("Speed", SPEEDS, "1", (value) => this.setSpeed(Number(value))),
			h("label", { class: "silence" }, silence, " skip silence"),
			button("Download", () => this.download(), "small"),
		);
		fill(this.frame.main, h("div", { class: "player" }, this.stage, bar));
		fill(this.frame.actions, names.length > 1 && select("Process", names, names[0]?.[0] ?? "", choose));
		if (!first) {
			fill(this.stage, h("p", { class: "empty" }, "Nothing was written in this session."));
			return;
		}
		this.open(first);
		addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.screen?.layOut()).observe(this.stage);
	}

	private open(track: Track): void {
		const position = this.player?.position ?? 0;
		this.player?.pause();
		this.screen?.dispose();
		const screen = new Screen({ label: `${nameOf(track)}: replay`, convertEol: !track.process.started?.terminal });
		this.stage.replaceChildren(screen.element);
		screen.open();
		screen.show();
		this.screen = screen;
		this.track = track;
		const player = new Player(screen, track, this.recording.sizeOf(track), this.recording.end, () => this.moved());
		player.speed = this.speed;
		player.skipsSilence = this.skipsSilence;
		this.player = player;
		void player.jump(position || (track.steps[0]?.t ?? 0)).then(() => screen.layOut());
	}

	private moved(): void {
		const { player } = this;
		if (player) {
			this.scrub.value = String(player.position);
			this.scrub.setAttribute("aria-valuetext", moment(player.position));
			this.clock.textContent = moment(player.position);
			const label = player.isPlaying ? "Pause" : "Play";
			if (this.play.title !== label) {
				this.play.title = label;
				this.play.setAttribute("aria-label", label);
				fill(this.play, icon(player.isPlaying ? ICONS.pause : ICONS.play));
			}
		}
	}

	private toggle(): void {
		const { player } = this;
		if (player?.isPlaying) {
			player.pause();
		} else {
			player?.play();
		}
		this.moved();
	}

	private jump(position: number): void {
		void this.player?.jump(position);
	}

	private setSpeed(speed: number): void {
		this.speed = speed;
		if (this.player) {
			this.player.speed = speed;
		}
	}

	private setSilence(isSkipped: boolean): void {
		this.skipsSilence = isSkipped;
		if (this.player) {
			this.player.skipsSilence = isSkipped;
		}
	}

	/** Space plays, arrows go five seconds, `,` and `.` one step. */
	private key(event: KeyboardEvent): void {
		const { player } = this;
		if (!player || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
			return;
		}
		const ways: Readonly<Record<string, () => void>> = {
			" ": () => this.toggle(),
			ArrowLeft: () => this.jump(player.position - STEP_US),
			ArrowRight: () => this.jump(player.position + STEP_US),
			",": () => this.jump(player.next(true)),
			".": () => this.jump(player.next(false)),
		};
		const way = ways[event.key];
		if (way && !(event.key === " " && event.target instanceof HTMLButtonElement)) {
			event.preventDefault();
			way();
		}
	}

	private download(): void {
		const { track, recording, info } = this;
		if (!track) {
			return;
		}
		const about = { title: plain(info.name) || info.session, createdUs: info.created_us };
		const text = asciicast(track, recording.marks, recording.sizeOf(track), about);
		const url = URL.createObjectURL(new Blob([text], { type: "application/x-asciicast" }));
		h("a", { href: url, download: `${info.session}-${track.process.process}.cast` }).click();
		setTimeout(() => URL.revokeObjectURL(url), 10_000);
	}
}

function nameOf({ process: { process, started } }: Track): string {
	return processTitle(process, started);
}

async function show(frame: PageFrame, fragment: Fragment): Promise<void> {
	const account = await accountFor(fragment);
	if (!fragment.session || !account) {
		frame.stop("Which session?", "The address names none that this browser may see.", homeLink());
		return;
	}
	frame.wait("Replay");
	const connection = await connect(account, (made) => frame.watch(made));
	const session = new Session(connection, fragment.session);
	const info = await session.info();
	const channel = session.channel({ after: 0, role: "viewer" });
	const recording = new Recording(channel, new SessionView(channel));
	frame.name(plain(info.name) || info.session);
	const progress = h("p", { class: "empty", role: "status" }, "Loading…");
	fill(frame.main, progress);
	await recording.load(() => (progress.textContent = `Loading… ${Math.round(recording.bytes / 1024)} KiB`));
	await channel.detach();
	new ReplayPage(frame, recording, info).begin();
	document.title = `Replay of ${plain(info.name) || info.session} · Sandbar`;
}

openPage(show);
