/* The commands, one row each. */
#include "commands.h"
#include "execution.h"

const struct command COMMANDS[] = {
	{"run", "[--] CMD [ARG…]", "Run a command in a fresh sandbox, as if it ran here",
     "Its stdin, stdout, stderr and exit code are those of the command; nothing is lost when the connection is cut.\n"
     "^C and other signals are passed on; a second one kills, a third leaves. The session ends with the command, "
     "unless --keep is given.\n"
     "Exit code: the command's own, 128+n when signal n ended it, 125 when Sandbar failed.",
     0, 0, PROGRAM_MUST, execution_run},
	{"new", "", "Make a session, and print its id",
     "With --on-disconnect end it stays connected, and the session goes with it: at once when it is ended by a signal, "
     "and a\nlittle after --give-up when it was killed or lost its connection. It leaves when the session has ended.",
     0, 0, PROGRAM_NO, command_new},
	{"update", "SESSION", "Change the name, the life or the context of a session",
     "What is not given stays as it is; the context that is given stands for the whole one before.", 1, 1, PROGRAM_NO,
     command_update},
	{"exec", "SESSION [--] CMD [ARG…]", "Run a command in a session",
     "As `run`, but the session stays, and the command goes on when this program is gone (see --on-disconnect).", 1, 1,
     PROGRAM_MUST, execution_exec},
	{"shell", "SESSION [[--] COMMAND…]", "Run a command in a shell that keeps directory, variables and functions",
     "In the newest shell of the session, made on demand; the words are joined by spaces, as ssh does. ^C interrupts "
     "the "
     "command,\nand the shell goes on. Without COMMAND it is read from stdin; at a terminal, a bash with a terminal is "
     "started instead.\n"
     "Exit code: the command's own, 130 when it was interrupted, 125 when Sandbar failed or the shell was lost.",
     1, 1, PROGRAM_MAY, command_shell},
	{"attach", "SESSION|LINK [PROCESS]", "Work in a terminal of a session, with others",
     "Without PROCESS, the newest terminal that is running. A link that somebody shared may stand for the session; as "
     "`-` it "
     "is\nasked for, so that it does not stay in the shell's history.\n"
     "The last row of this window says who is here and who drives; the program gets the rows above it. The session's "
     "screen "
     "is\ndrawn there, whatever size it has. With --no-status the program gets all rows, and what it writes passes "
     "through, "
     "but for\nwhat does more than draw: queries, the clipboard, window operations. ^] and a letter:\n"
     "  d  leave, and let it run         t  take: drive, if nobody does     l  list who is here\n"
     "  r  ask for it, or give it up     g  hand over to somebody           s  send ^] itself\n"
     "Exit code: the process's own when it ends; 0 after leaving.",
     1, 2, PROGRAM_NO, command_attach},
	{"share", "SESSION | ls SESSION | revoke SESSION SHARE", "Make a link to a session; list them, take one back",
     "Prints the link, once: who has it may join, in a browser or with `sandbar attach`. `revoke` closes the "
     "connections "
     "of\nwho came by it, too. Each program that joins uses it once; one that lost its connection comes back.",
     1, 3, PROGRAM_NO, command_share},
	{"who", "SESSION", "List who is in a session, in which role", NULL, 1, 1, PROGRAM_NO, command_who},
	{"role", "SESSION PARTICIPANT viewer|editor|owner", "Give somebody another role, from now on",
     "PARTICIPANT is the number or the name that `sandbar who` shows. It holds also when they come back.", 3, 3,
     PROGRAM_NO, command_role},
	{"kick", "SESSION PARTICIPANT", "Remove somebody from a session",
     "What they came with is no longer good for this session; `sandbar role` lets them in again.", 2, 2, PROGRAM_NO,
     command_kick},
	{"note", "SESSION TEXT…", "Pin a text to this moment, for all who watch and for the recording", NULL, 2, 1000,
     PROGRAM_NO, command_note},
	{"terminal", "SESSION [PROCESS]", "Say how a terminal is shared: who types, whose size it has",
     "--input open: every editor types; driver: one at a time, who takes it and hands it over (see `attach`).\n"
     "--size driver: that of who drives; smallest, largest: of all editors; COLSxROWS: fixed.\n"
     "Without PROCESS: the newest terminal that runs.",
     1, 2, PROGRAM_NO, command_terminal},
	{"logs", "SESSION", "Print what the processes of a session wrote",
     "stdout and terminals go to stdout, stderr to stderr. With --json, every event is one line. With --cast, a "
     "terminal (the "
     "first,\nor --process) is a recording for asciinema and its like: sizes, notes and endings as markers, and who "
     "typed, never "
     "what.",
     1, 1, PROGRAM_NO, command_logs},
	{"ls", "", "List the sessions", NULL, 0, 0, PROGRAM_NO, command_ls},
	{"ps", "SESSION", "List the processes of a session", NULL, 1, 1, PROGRAM_NO, command_ps},
	{"kill", "SESSION PROCESS", "End a process and its whole tree, or send it a signal",
     "Returns when nothing of the tree is left. With --grace, SIGTERM comes first. With --signal, only that is sent.",
     2, 2, PROGRAM_NO, command_kill},
	{"end", "SESSION…", "End sessions, with all that runs in them", NULL, 1, 1000, PROGRAM_NO, command_end},
	{"info", "[SESSION]", "Show everything about a session, or the server", NULL, 0, 1, PROGRAM_NO, command_info},
	{"token", "new | link | ls | revoke ID", "Make, list and revoke tokens",
     "`new` prints the token, once; who has it may use the server with the token's rights. `link` prints a link that "
     "signs one browser in: it is good once, within an hour. `revoke` closes a token's connections, too.\nNeeds the "
     "right `admin`, which the owner's token has.",
     1, 2, PROGRAM_NO, command_token},
	{"doctor", "", "Show which layers of isolation this host gives",
     "Asks the server, or `sandbard --doctor` when none answers. Exit code 0 when all essential layers are on.", 0, 0,
     PROGRAM_NO, command_doctor},
	{"prove", "", "Attack a session of the server's from inside, and show which control stopped what",
     "Makes two sessions, attacks in one what the other and the host have, and ends them. What did not hold is "
     "listed;\n"
     "with --verbose all that was tried. The server keeps the newest proof of each template that an operator makes, "
     "for\n"
     "templates that demand a fresh one (`require-proof`). With --save it is kept here, too; --check says whether "
     "kernel,\n"
     "policy and root are still what they were then.\n"
     "Exit code 0 when everything held; with --check, when the proof is fresh and everything held in it.",
     0, 0, PROGRAM_NO, command_prove},
	{"version", "", "Print the version", NULL, 0, 0, PROGRAM_NO, command_version},
	{NULL, NULL, NULL, NULL, 0, 0, PROGRAM_NO, NULL},
};

int command_version(struct options *options)
{
	if (options->json)
		printf("{\"version\": \"%s\"}\n", SANDBAR_VERSION);
	else
		printf("sandbar %s\n", SANDBAR_VERSION);
	return EXIT_OK;
}
