export { Channel, type Attached, type ChannelEvents, type ChannelOptions } from "./channel.js";
export { spans } from "./check.js";
export type { ConnectionEvents, ConnectionOptions, ConnectionState } from "./connection.js";
export { SandbarError, type OwnCode } from "./error.js";
export type { ChannelFrames, FrameEvents, JournalEvents } from "./events.js";
export { decodeMessage, encodeMessage, type Frame, type Message } from "./message.js";
export { Pace } from "./pace.js";
export {
	CommandExitError,
	CommandHandle,
	Commands,
	Pty,
	Sandbox,
	type CommandOptions,
	type CommandResult,
	type PtyOptions,
	type SandboxOptions,
} from "./sandbox.js";
export { Session, type ProcessOptions, type SessionOptions, type ShareOptions } from "./session.js";
export * from "./table.js";
export type * from "./types.js";
export { SessionView, type Note, type ProcessView } from "./view.js";
