/** A person as the provider names them: a number in the provider's form, and a user id that does not reveal it. */
export interface Person {
  /** Null where the person is known by the user id alone. */
  readonly waId: string | null;
  readonly userId: string;
}

/** Returns the ids under which the provider names the owner of this number. */
export function personOfNumber(digits: string): Person {
  return { waId: waIdOf(digits), userId: userIdOf(digits) };
}

/** Mexican mobiles keep the 1 behind the calling code, and Brazilian ones have no ninth digit. */
function waIdOf(digits: string): string {
  return digits.replace(/^52(?=[2-9]\d{9}$)/, '521').replace(/^(55\d{2})9(?=\d{8}$)/, '$1');
}

/** Hashes the number, so that the id is the same for every form of it and after every restart. */
function userIdOf(digits: string): string {
  let hash = 7n;
  for (const digit of waIdOf(digits))
    hash = (hash * 1_000_003n + BigInt(digit) + 1n) % 99_999_999_999_999_999_989n;
  return `US.${hash}`;
}

export const userIdPattern = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** An entry of `contacts`. */
export function contactOf({ waId, userId }: Person, name = 'Simulated person') {
  return { profile: { name }, ...(waId === null ? {} : { wa_id: waId }), user_id: userId };
}
