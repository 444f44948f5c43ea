/** `bedside/testing`: conformance suites for your own implementations, for any test runner. */
export { type AgentMaterial, agentChecks } from '../testing/agent.js'
export { backendChecks } from '../testing/backend.js'
export type { BackendMaterial } from '../testing/backend-bench.js'
export { type Check, type CheckContext, type CheckReport, runChecks } from '../testing/check.js'
export { checkEnv, type EnvMaterial, envChecks } from '../testing/env.js'
export { type ExamMaterial, examChecks } from '../testing/exam.js'
export { type PatientMaterial, patientChecks } from '../testing/patient.js'
export { type RewardMaterial, rewardChecks } from '../testing/reward.js'
