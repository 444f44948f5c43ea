/** What a policy loss reads of one segment of tokens. */

/** Inputs of a segment's loss, one number per token after the prompt; a `TokenSegment` is one. */
export interface LossRow {
  /** 1 where the policy drew the token. */
  readonly mask: ArrayLike<number>
  /** Sampler's log-prob. */
  readonly logprobs: ArrayLike<number>
  /** log-prob under the old weights of the ratio. @default `logprobs` */
  readonly oldLogprobs?: ArrayLike<number>
  /** log-prob under the reference policy, for a loss with a KL penalty. */
  readonly refLogprobs?: ArrayLike<number>
  readonly advantages: ArrayLike<number>
}
