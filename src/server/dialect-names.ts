/** The wires that a server speaks; apart, so that a command line can name them without loading a server. */
export const dialectNames = ['plain', 'openenv', 'nemo-gym', 'ors'] as const

/** Name of a wire. */
export type ServerDialect = (typeof dialectNames)[number]
