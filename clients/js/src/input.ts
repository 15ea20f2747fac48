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
	/** The frames that are on their way. */
	private flying: { readonly from: number; readonly end: number }[] = [];
	/** Refusals that answer frames which were given up already. */
	private stale = 0;
	private isBlocked = true;
	/** The window was full, and no acknowledgement has come since. */
	private isFull = false;
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
		this.flying = this.flying.filter(({ end }) => end > offset);
		this.isFull = false;
		this.acceptTo(offset);
		this.pump();
	}

	/** Attached (again): the server has what is below OFFSET. */
	resume(offset: number): void {
		this.isBlocked = false;
		this.isFull = false;
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
	waitAt(offset: number): void {
		this.isFull = this.rewind(offset) || this.isFull;
	}

	/** What was sent stood above OFFSET, where the server goes on: it is sent again from there. */
	resend(offset: number): void {
		if (this.rewind(offset) && !this.isFull) {
			this.pump();
		}
	}

	/**
	 * Input was refused for good, and goes on at OFFSET. Whether anything was given up. Frames behind the refused one
	 * stand above OFFSET, so the server refuses each of them, too, and its word on those must not be taken for one on
	 * what is written now.
	 */
	refuse(offset: number): boolean {
		if (this.stale > 0) {
			this.stale--;
			return false;
		}
		this.stale = this.flying.filter(({ from }) => from > offset).length;
		this.flying = [];
		this.pieces = [];
		this.end = this.next = this.accepted = offset;
		this.wake();
		return true;
	}

	/** Nothing takes it any more: whoever waits goes on. */
	stop(): void {
		this.isBlocked = true;
		this.flying = [];
		this.pieces = [];
		this.next = this.accepted = this.end;
		this.wake();
	}

	/** Go back to OFFSET. False: it was said of a frame that was given up already. */
	private rewind(offset: number): boolean {
		if (this.stale > 0) {
			this.stale--;
			return false;
		}
		this.flying = this.flying.filter(({ end }) => end <= offset);
		this.next = Math.min(this.next, Math.max(offset, this.accepted));
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
			if (this.isBlocked || this.isFull || end > this.accepted + Limit.STDIN_WINDOW) {
				return;
			}
			if (end > this.next) {
				const from = Math.max(this.next, offset);
				this.next = end;
				this.flying.push({ from, end });
				this.sendPiece(from, bytes.subarray(from - offset));
			}
		}
	}
}
