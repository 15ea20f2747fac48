import type { Usage } from "sandbar";
import { drawing, fill, h } from "../dom.js";
import { bytes } from "../format.js";

/** Two minutes, as often as the page looks. */
const SAMPLES = 60;
const HEIGHT = 20;
const CPU_LEAST = 100;
const MEMORY_LEAST = 16 * 1024 * 1024;

interface Sample {
	/** Hundredths of one processor. */
	readonly cpu: number;
	readonly memory: number;
}

/** How much processor and memory a session uses, now and over the last minutes. */
export class UsageChart {
	readonly element = h("div", { class: "usage" });
	private readonly samples: Sample[] = [];
	private before: Usage | null = null;

	/** What the newest list said; null = nothing is known. */
	add(usage: Usage | null): void {
		const { before } = this;
		const memory = usage?.memory_bytes ?? null;
		const cpu = usage?.cpu_ms ?? null;
		if (!usage || memory === null || cpu === null || usage.at_us === before?.at_us) {
			return;
		}
		this.before = usage;
		if (before) {
			const share = (100_000 * (cpu - (before.cpu_ms ?? 0))) / (usage.at_us - before.at_us);
			this.samples.push({ cpu: Math.max(0, share), memory });
			this.samples.splice(0, this.samples.length - SAMPLES);
			this.draw({ cpu: Math.max(0, share), memory });
		}
	}

	private draw({ cpu, memory }: Sample): void {
		const { samples } = this;
		fill(
			this.element,
			chart(
				samples.map((sample) => sample.cpu),
				CPU_LEAST,
				"CPU",
				`${Math.round(cpu)} %`,
			),
			chart(
				samples.map((sample) => sample.memory),
				MEMORY_LEAST,
				"Memory",
				bytes(memory),
			),
		);
	}
}

/** VALUES as a line, whose height is LEAST or what the largest needs, and the newest in words. */
function chart(values: readonly number[], least: number, name: string, told: string): HTMLElement {
	const most = values.reduce((one, other) => Math.max(one, other), least);
	const points = values.map((value, i) => {
		const x = SAMPLES - values.length + i;
		return `${x} ${(HEIGHT - 1 - ((HEIGHT - 2) * value) / most).toFixed(1)}`;
	});
	const line = drawing(`0 0 ${SAMPLES} ${HEIGHT}`, `M${points.join("L")}`);
	line.setAttribute("class", "usage-line");
	line.setAttribute("preserveAspectRatio", "none");
	line.setAttribute("aria-hidden", "true");
	return h("span", { class: "usage-part", "data-name": name }, line, h("span", {}, `${name} ${told}`));
}
