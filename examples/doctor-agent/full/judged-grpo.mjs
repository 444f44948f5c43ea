/** Doctor-Agent's GRPO reward with a chat model as verifier: $VERIFIER_MODEL behind $OPENAI_BASE_URL. */
import { openaiChat } from 'bedside'
import { chatVerifier } from 'bedside/rewards'
import { doctorAgentGrpo } from 'bedside/rewards/published'

const chat = openaiChat({ model: process.env.VERIFIER_MODEL ?? 'default', maxTokens: 512 })

export const reward = doctorAgentGrpo({ verifier: chatVerifier({ chat }) })
