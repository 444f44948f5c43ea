/** Training events and step metrics: noun-first, typed, on an eventemitter3 emitter. */

import { EventEmitter } from 'eventemitter3'
import type { StepReport } from '../backend.js'
import type { UsageByRole } from '../chats/account.js'
import type { SpeechCounts } from '../episode.js'
import type { Group } from '../group.js'

/** Metrics of one training step: a line of `metrics.jsonl`. */
export interface StepMetrics {
  readonly step: number
  readonly steps: number
  readonly policyVersion: number
  /** Mean over the step's episodes, as for `accuracy` and `turns`; null without a value. */
  readonly reward: number | null
  readonly accuracy: number | null
  readonly turns: number | null
  readonly groups: {
    /** All groups begun. */
    readonly drawn: number
    readonly formed: number
    readonly zeroVariance: number
    /** Groups left out for one of the `reasons`. */
    readonly dropped: number
    readonly reasons: {
      /** Every member failed with a fault. */
      readonly lost: number
      /** Played by too old a policy version. */
      readonly stale: number
      readonly singleton: number
      readonly tooFewScored: number
    }
    /** Groups that the run has begun so far, where they are played ahead of their steps: a resumed run begins after them. */
    readonly begun?: number
  }
  readonly samples: {
    readonly used: number
    readonly unavailable: number
    readonly stale: number
    readonly forks: number
  }
  /** Share of the drawn tokens that were rejected as too far off policy; absent where nothing is rejected. */
  readonly rejected?: number
  /** Replies of a patient that a model plays; absent for any other. */
  readonly patient?: SpeechCounts
  /** Report of the step's last gradient step; absent without one. */
  readonly update?: StepReport
  readonly seconds: number
}

/** Evaluation of a training step on held-out cases. */
export interface HeldOutMetrics {
  readonly step: number
  /** Mean over the episodes, as for `accuracy`; null without a score. */
  readonly reward: number | null
  readonly accuracy: number | null
  readonly seconds: number
}

/** Events of a training run, by name. */
export interface TrainingEvents {
  'group-formed': (group: Group) => void
  'step-end': (metrics: StepMetrics) => void
  'held-out-scored': (metrics: HeldOutMetrics) => void
  'checkpoint-saved': (folder: string, step: number) => void
  /** A line for people: a backend's slow operation, or a lock that was taken over. */
  'backend-status': (line: string) => void
  /** What the language models of the run used so far, by role, after each step. */
  'models-used': (usage: UsageByRole) => void
  /** A fault of the world that made a consultation or its score unavailable. */
  'fault-met': (fault: Error, where: string) => void
}

/** Typed emitter of {@link TrainingEvents}. */
export type TrainingEmitter = EventEmitter<TrainingEvents>
/** Makes an emitter without listeners. */
export const trainingEmitter = (): TrainingEmitter => new EventEmitter<TrainingEvents>()
