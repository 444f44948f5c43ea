/** Types that a vector env and its slots share: autoreset modes, infos and step options. */
import type { Reset } from '../env.js'

/**
 * When an env whose episode is over is reset. `next-step`: by its next step, whose action is ignored and whose
 * reward is 0; `same-step`: by the step that ended it, whose end is in `info.final`; `disabled`: by the caller.
 */
export type Autoreset = 'next-step' | 'same-step' | 'disabled'

/** An info of a vector env; `final` is the end of an episode that was reset in the same step. */
export type VectorInfo<O, I> = I & { readonly final?: Reset<O, I> }
