import { Limit } from "./table.js";

const PIECE_BYTES = 64 * 1024;

/** How input is sent: bytes that stand at an offset. */
export type SendPiece = (offset: number, bytes: Uint8Array) => void;

/**
 * What one client sends to one process (PROTOCOL.md §5): bytes at offsets, kept until the server has them, sent as far
 * as the window goes, and sent again after a cut from where the server stands.
 */
export class Input {
	private pieces: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
	/** Where the next new byte stands. */
	private end: number;
	/** Where the next byte to be sent stands. */
	private next: number;
	private accepted: number;
	/** The ends of the frames that are on their way. */
	private flying: number[] = [];
	/** Refusals that answer frames which were given up already. */
	private stale = 0;
	private isBlocked = true;
	private readonly waiting: (() => void)[] = [];

	constructor(
		offset: number,
		private readonly sendPiece: SendPiece,
	) {
		this.end = this.next = this.accepted = offset;
	}

	/** Resolves when the server has taken them all, or refused them. */
	write(bytes: Uint8Array): Promise<void> {
		for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
			const piece = bytes.slice(at, at + PIECE_BYTES);
			this.pieces.push({ offset: this.end, bytes: piece });
			this.end += piece.length;
		}
		this.pump();
		return this.settled();
	}

	/** The offset at which the input ends. */
	get offset(): number {
		return this.end;
	}

	get isSettled(): boolean {
		return this.accepted >= this.end;
	}

	settled(): Promise<void> {
		return this.isSettled ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
	}

	acknowledge(offset: number): void {
		this.flying = this.flying.filter((end) => end > offset);
		this.acceptTo(offset);
		this.pump();
	}

	/** Attached (again): the server has what is below OFFSET. */
	resume(offset: number): void {
		this.isBlocked = false;
		this.flying = [];
		this.stale = 0;
		this.end = Math.max(this.end, offset);
		this.acceptTo(offset);
		this.next = this.accepted;
		this.pump();
	}

	/** Nothing can be sent until it is resumed. */
	cut(): void {
		this.isBlocked = true;
	}

	/** The window was full at OFFSET: what is above it is sent again when there is room. */
	rewind(offset: number): void {
		if (this.stale > 0) {
			this.stale--;
			return;
		}
		this.flying = this.flying.filter((end) => end <= offset);
		this.next = Math.min(this.next, Math.max(offset, this.accepted));
	}

	/** Input was refused for good, and goes on at OFFSET. Whether anything was given up. */
	refuse(offset: number): boolean {
		if (this.stale > 0) {
			this.stale--;
			return false;
		}
		this.stale = Math.max(0, this.flying.length - 1);
		this.flying = [];
		this.pieces = [];
		this.end = this.next = this.accepted = offset;
		this.wake();
		return true;
	}

	private acceptTo(offset: number): void {
		this.accepted = Math.max(this.accepted, Math.min(offset, this.end));
		this.next = Math.max(this.next, this.accepted);
		this.pieces = this.pieces.filter((piece) => piece.offset + piece.bytes.length > this.accepted);
		if (this.isSettled) {
			this.wake();
		}
	}

	private wake(): void {
		this.waiting.splice(0).forEach((resolve) => resolve());
	}

	private pump(): void {
		for (const { offset, bytes } of this.pieces) {
			const end = offset + bytes.length;
			if (this.isBlocked || end > this.accepted + Limit.STDIN_WINDOW) {
				return;
			}
			if (end > this.next) {
				const from = Math.max(this.next, offset);
				this.next = end;
				this.flying.push(end);
				this.sendPiece(from, bytes.subarray(from - offset));
			}
		}
	}
}
