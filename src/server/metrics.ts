/** Counts of a server, as text that Prometheus reads. */
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { RefusalCode } from './refusal.js'
import type { Sessions } from './sessions.js'

/** Counts as data. */
export type MetricData = readonly MetricObjectWithValues<MetricValue<string>>[]

/** The counts of a server. */
export interface Metrics {
  stepped(seconds: number): void
  refused(code: RefusalCode | 'error'): void
  /** All of them as data, for another process that adds them to its own. */
  data(): Promise<MetricData>
  /** All of them and those of other processes, in Prometheus' text format. */
  text(others?: readonly MetricData[]): Promise<string>
}

/** Bounds of the step times that are counted apart, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]

/** Makes the counts of a server. */
export function openMetrics(sessions: Sessions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read())
      },
    })
  gauge('bedside_sessions_open', 'Sessions now.', () => sessions.counts.open)
  gauge('bedside_sessions_waiting', 'Clients that wait for a place.', () => sessions.counts.waiting)
  gauge('bedside_sessions_opened', 'Sessions since the start.', () => sessions.counts.opened)
  gauge('bedside_sessions_reaped', 'Sessions ended because idle.', () => sessions.counts.reaped)
  gauge('bedside_resident_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  const steps = new Histogram({
    ...{ name: 'bedside_step_seconds', help: 'Time of a step.', buckets, registers },
  })
  const refusals = new Counter({
    ...{
      name: 'bedside_refusals_total',
      help: 'Refused requests.',
      labelNames: ['code'],
      registers,
    },
  })
  return {
    stepped: (seconds) => steps.observe(seconds),
    refused: (code) => refusals.inc({ code }),
    data: () => registry.getMetricsAsJSON(),
    async text(others = []) {
      if (others.length === 0) return registry.metrics()
      const all = [await registry.getMetricsAsJSON(), ...others]
      return AggregatorRegistry.aggregate(all.map((one) => [...one])).metrics()
    },
  }
}
