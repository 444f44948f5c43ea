/** What a training run tells while it runs: noun-first events, typed, on an eventemitter3 emitter. */
import { EventEmitter } from 'eventemitter3'
import type { StepReport } from '../backend.js'
import type { Group } from '../group.js'

/** One line of `metrics.jsonl`. */
export interface StepMetrics {
  readonly step: number
  readonly steps: number
  readonly policyVersion: number
  /** Means over the step's episodes; null where none has a score. */
  readonly reward: number | null
  readonly accuracy: number | null
  readonly turns: number | null
  readonly groups: {
    /** Begun, whatever became of them. */
    readonly drawn: number
    readonly formed: number
    readonly zeroVariance: number
    /** Left out for one of the `reasons`. */
    readonly dropped: number
    readonly reasons: {
      /** Faults took every member. */
      readonly lost: number
      /** Played by a policy that was too old. */
      readonly stale: number
      readonly singleton: number
      readonly tooFewScored: number
    }
  }
  readonly samples: {
    readonly used: number
    readonly unavailable: number
    readonly stale: number
    readonly forks: number
  }
  /** Absent when no group of the step taught anything. */
  readonly update?: StepReport
  readonly seconds: number
}

export interface HeldOutMetrics {
  readonly step: number
  /** Null where no episode has a score. */
  readonly reward: number | null
  readonly accuracy: number | null
  readonly seconds: number
}

export interface TrainingEvents {
  'group-formed': (group: Group) => void
  'step-end': (metrics: StepMetrics) => void
  'held-out-scored': (metrics: HeldOutMetrics) => void
  'checkpoint-saved': (folder: string, step: number) => void
  /** A line of what a backend is doing that takes a while. */
  'backend-status': (line: string) => void
  /** A consultation, or its score, that the world made unavailable. */
  'fault-met': (fault: Error, where: string) => void
}

export type TrainingEmitter = EventEmitter<TrainingEvents>
export const trainingEmitter = (): TrainingEmitter => new EventEmitter<TrainingEvents>()
