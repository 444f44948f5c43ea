/** The grammars by the names that recipes and the command line know. */
import type { Grammar } from '../../agent.js'
import { diagagentActions } from './diagagent.js'
import { grpodx } from './grpodx.js'
import { huatuo } from './huatuo.js'
import { labelled } from './labelled.js'
import { spoken } from './spoken.js'
import { takesTwo } from './takes-two.js'
import { thinkAnswer } from './think-answer.js'
import { toolCalling } from './tool-calling.js'

const makers = {
  labelled,
  brief: () => labelled({ rules: 'brief' }),
  spoken,
  'think-answer': thinkAnswer,
  'takes-two': takesTwo,
  grpodx: () => grpodx(),
  'grpodx-head': () => grpodx({ reason: false }),
  diagagent: diagagentActions,
  huatuo,
  tools: toolCalling,
} as const satisfies Record<string, () => Grammar>

/** Name of a grammar. */
export type GrammarName = keyof typeof makers

/** Every name of a grammar. */
// The keys of the table are the names.
export const grammarNames = Object.keys(makers) as readonly GrammarName[]

/** Makes a grammar by its name. */
export const namedGrammar = (name: GrammarName): Grammar => makers[name]()
