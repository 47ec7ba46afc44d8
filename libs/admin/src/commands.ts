/** A command that a service offers to operators. Each service exports its own, by name, from `src/admin.ts`. */
export type AdminCommand = {
  /** One line of `rollcall-admin --help`. */
  summary: string
  /** Names of its arguments, which are all required. Default: none. */
  args?: readonly string[]
  /** Loads and runs the program, which logs its result and ends the process. */
  load: (...args: string[]) => Promise<unknown>
}

/** Commands by name. */
export type AdminCommands = Readonly<Record<string, AdminCommand>>
