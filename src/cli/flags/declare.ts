/** Shared by all command declarations: the type that runs a command, and the examples in its help. */
import type { Command } from 'commander'

/** Runs a command's work and keeps its exit code. */
export type CommandRunner = (work: () => Promise<number>) => Promise<void>

/** Adds example command lines to the end of a help text. */
export const addExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  $ npx bedside ${line}`).join('\n')}\n`,
  )
