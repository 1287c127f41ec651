/** What a person agrees to receive. Imports nothing. */

/** `no_marketing`: everything but messages of the category MARKETING. */
export const consents = ['all', 'no_marketing', 'none'] as const;
export type Consent = (typeof consents)[number];

/** Which campaigns to a CSV skip people who are no contacts. */
export const consentPolicies = ['off', 'marketing', 'all'] as const;
export type ConsentPolicy = (typeof consentPolicies)[number];

export const requiresConsent = (policy: ConsentPolicy, isMarketing: boolean): boolean =>
  policy === 'all' || (policy === 'marketing' && isMarketing);

/** Maximum length of what a person saw or wrote, in characters. */
export const maxEvidenceText = 1_000;

/** What a decision is about. */
export const consentCategories = ['ALL', 'MARKETING'] as const;
export type ConsentCategory = (typeof consentCategories)[number];

/**
 * A person stops or allows messages. To stop ALL takes nothing back of MARKETING, to allow ALL allows both, and to allow
 * MARKETING does not lift a stop of everything.
 */
export interface ConsentDecision {
  readonly category: ConsentCategory;
  readonly allows: boolean;
}

/** Whether a campaign may write to the person. */
export const mayReceive = (consent: Consent, isMarketing: boolean): boolean =>
  consent === 'all' || (consent === 'no_marketing' && !isMarketing);

export function strictest(given: Iterable<Consent>): Consent {
  let strict = 0;
  for (const consent of given) strict = Math.max(strict, consents.indexOf(consent));
  return consents[strict] ?? 'none';
}

/** The decision after which a person who agreed to everything has this consent. */
export const decisionFor = (consent: Consent): ConsentDecision => ({
  category: consent === 'no_marketing' ? 'MARKETING' : 'ALL',
  allows: consent === 'all',
});
