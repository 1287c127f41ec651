/** A claim takes this input; `claim-batch.ts` describes what it returns. */
export interface ClaimRequest {
  /** New for every call: outcomes are recorded under it. */
  readonly claimId: string;
  /** The send step that claims; the claim returns whether it still holds its send slot. */
  readonly stepId: string;
  readonly campaignId: string;
  readonly channelId: string;
  /** Pausing, cancelling and starting raise the campaign's epoch; a claim under an older one gets nothing. */
  readonly epoch: number;
  /** The most recipients to claim. */
  readonly limit: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** The business account has a messaging limit. */
  readonly limited?: boolean;
  /** The campaign's messages name contact fields: the claim returns contacts that changed after preparation. */
  readonly rendersAgain?: boolean;
  /** The custom fields that the messages name. */
  readonly customFields?: readonly string[];
  /** Look-ahead: no token is taken that falls due later than this from now. */
  readonly aheadMs: number;
  /** Epoch milliseconds on Postgres' clock: when the messages leave that the step has claimed before. */
  readonly notBefore: number;
  /** Messages a second that the step can send, if that is less than the channel's rate. */
  readonly perSecond: number;
  /** How long the provider may take to answer: no second probe of an open circuit is sent until then. */
  readonly answerWithinMs: number;
}
