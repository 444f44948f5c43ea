/** `bedside/testing`: conformance suites for your own implementations, for any test runner. */
export { agentChecks } from '../testing/agent.js'
export { backendChecks } from '../testing/backend.js'
export type { Check, CheckReport } from '../testing/check.js'
export { runChecks } from '../testing/check.js'
export { checkEnv, envChecks } from '../testing/env.js'
export { examChecks } from '../testing/exam.js'
export { patientChecks } from '../testing/patient.js'
export { rewardChecks } from '../testing/reward.js'
