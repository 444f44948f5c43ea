/** How a command is declared: what runs its work, and the examples at the end of its help. */
import type { Command } from 'commander'

/** Runs a command's work and keeps its exit code. */
export type Act = (work: () => Promise<number>) => Promise<void>

/** Adds the examples that end every help text. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  $ npx bedside ${line}`).join('\n')}\n`,
  )
