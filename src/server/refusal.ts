/** A request that is answered with a reason instead of a result: the client's mistake, or no room. */

/** Why a request was refused; the name a client may act on. */
export type RefusalCode =
  | 'bad-request'
  | 'unauthorised'
  | 'not-found'
  | 'conflict'
  | 'session-gone'
  | 'too-large'
  | 'version'
  | 'capacity'
  | 'draining'
  | 'deadline'
  | 'unavailable'

/** HTTP status of each code. */
export const refusalStatus = {
  'bad-request': 400,
  unauthorised: 401,
  'not-found': 404,
  conflict: 409,
  'session-gone': 410,
  'too-large': 413,
  version: 426,
  capacity: 503,
  draining: 503,
  deadline: 504,
  unavailable: 502,
} as const satisfies { [code in RefusalCode]: number }

/** A refused request. Its message is for the client: what was expected, what came, what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  /** What else a client may read: the fields that are wrong, or how to go on. */
  readonly details: object | undefined

  constructor(code: RefusalCode, message: string, details?: object) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** A refusal as it is sent. */
export interface RefusalBody {
  readonly error: { readonly code: RefusalCode; readonly message: string } & object
}

/** The body of a refusal's reply. */
export const refusalBody = ({ code, message, details }: Refusal): RefusalBody => ({
  error: { code, message, ...details },
})
