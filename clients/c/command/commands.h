/*
 * commands.h: the functions behind the rows of COMMANDS. Each returns the exit code.
 */
#ifndef SANDBAR_COMMAND_COMMANDS_H
#define SANDBAR_COMMAND_COMMANDS_H

#include "options.h"

int command_attach(struct options *options);
int command_logs(struct options *options);
int command_logs_cast(struct options *options);
int command_new(struct options *options);
int command_update(struct options *options);
int command_end(struct options *options);
int command_ls(struct options *options);
int command_info(struct options *options);
int command_ps(struct options *options);
int command_kill(struct options *options);
int command_share(struct options *options);
int command_who(struct options *options);
int command_role(struct options *options);
int command_kick(struct options *options);
int command_note(struct options *options);
int command_terminal(struct options *options);
int command_token(struct options *options);
int command_shell(struct options *options);
int command_doctor(struct options *options);
int command_prove(struct options *options);
int command_version(struct options *options);

#endif
