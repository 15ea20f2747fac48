/*
 * execute.h: execve(2) with the search that execvpe(3) makes, in the PATH of the environment given.
 */
#ifndef SANDBAR_INIT_EXECUTE_H
#define SANDBAR_INIT_EXECUTE_H

/* Execute ARGV[0] with ENVP; a file without a format that the kernel knows is run by /bin/sh. Without a PATH it is
 * "/bin:/usr/bin". ARGV[-1] must be writable. Returns only on failure, -1 with errno: EACCES if one was found that
 * may not be executed, else of the last try. */
int execute(char **argv, char **envp);

#endif
