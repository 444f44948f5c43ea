/** What all declarations of commands share. */
import type { Command } from 'commander'

/**
 * Adds a command to a parent. `load` imports the function that runs it, which takes its arguments, its flags and the
 * terminal, and returns the exit code.
 */
export type Declare = (
  parent: Command,
  name: string,
  spec: {
    readonly says: string
    readonly load: () => Promise<(...given: never[]) => Promise<number>>
    readonly examples?: readonly string[]
  },
) => Command

/** Adds example command lines to the end of a help text. */
export const addExamples = (command: Command, lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  $ npx bedside ${line}`).join('\n')}\n`,
  )
