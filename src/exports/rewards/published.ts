/** `bedside/rewards/published`: the rewards of TakesTwo, DoctorAgent-RL, DiagAgent, GRPODx and Doctor-Agent, fixed and as released. */
export type {
  DiagagentOptions,
  DiagagentWeights,
  TurnTerm,
} from '../../rewards/published/diagagent.js'
export { diagagent, diagagentPaper } from '../../rewards/published/diagagent.js'
export type { DoctorAgentOptions } from '../../rewards/published/doctor-agent.js'
export { doctorAgentGrpo, doctorAgentPpo } from '../../rewards/published/doctor-agent.js'
export type { DoctorAgentNotebookOptions } from '../../rewards/published/doctor-agent-notebook.js'
export { doctorAgentNotebook } from '../../rewards/published/doctor-agent-notebook.js'
export {
  type DoctorAgentRlJudgeOptions,
  type DoctorAgentRlOptions,
  doctoragentJudge,
  doctoragentMatch,
  doctoragentPatient,
} from '../../rewards/published/doctoragent-rl.js'
export { type DeiOptions, deiMetric } from '../../rewards/published/doctoragent-rl-dei.js'
export type {
  DoctorAgentRlModels,
  DoctorAgentRlParityOptions,
  RecordedQuestion,
} from '../../rewards/published/doctoragent-rl-parity.js'
export type { GrpodxOptions, GrpodxReadmeOptions } from '../../rewards/published/grpodx.js'
export { grpodxHead, grpodxReadme } from '../../rewards/published/grpodx.js'
export { type TakesTwoDoctorOptions, takestwoDoctor } from '../../rewards/published/takestwo.js'
export type { TakesTwoPatientOptions } from '../../rewards/published/takestwo-patient.js'
export { takestwoPatient } from '../../rewards/published/takestwo-patient.js'
