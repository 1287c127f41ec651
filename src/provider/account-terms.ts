/** What the provider says about a business account: its currency, and the time zone in which its prices begin. */
export interface AccountTerms {
  /** ISO 4217; null if the provider does not say. */
  readonly currency: string | null;
  /** IANA name; null if the provider does not say, or names one that is not known. */
  readonly timeZone: string | null;
}

export const accountFields = 'currency,timezone_id';

export function readAccountTerms(body: unknown): AccountTerms {
  const { currency, timezone_id: zone } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  const isCode = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency);
  return { currency: isCode ? currency : null, timeZone: timeZoneOf(zone) };
}

/** The provider numbers its time zones; a name is taken as well. */
function timeZoneOf(zone: unknown): string | null {
  const text = typeof zone === 'number' || typeof zone === 'string' ? String(zone).trim() : '';
  const name = /^\d+$/.test(text) ? zones[Number(text) - 1] : text;
  return name !== undefined && /^[\w+-]+(\/[\w+-]+)+$|^UTC$/.test(name) && isTimeZone(name) ? name : null;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

// In the order of the provider's ids, from 1.
const zones = [
  'America/Los_Angeles America/Denver Pacific/Honolulu America/Anchorage America/Phoenix',
  'America/Chicago America/New_York Asia/Dubai America/Argentina/San_Luis',
  'America/Argentina/Buenos_Aires America/Argentina/Salta Europe/Vienna Australia/Perth',
  'Australia/Broken_Hill Australia/Sydney Europe/Sarajevo Asia/Dhaka Europe/Brussels Europe/Sofia',
  'Asia/Bahrain America/La_Paz America/Noronha America/Campo_Grande America/Belem America/Sao_Paulo',
  'America/Nassau America/Dawson America/Vancouver America/Dawson_Creek America/Edmonton',
  'America/Rainy_River America/Regina America/Atikokan America/Iqaluit America/Toronto',
  'America/Blanc-Sablon America/Halifax America/St_Johns Europe/Zurich Pacific/Easter America/Santiago',
  'Asia/Shanghai America/Bogota America/Costa_Rica Asia/Nicosia Europe/Prague Europe/Berlin',
  'Europe/Copenhagen America/Santo_Domingo Pacific/Galapagos America/Guayaquil Europe/Tallinn',
  'Africa/Cairo Atlantic/Canary Europe/Madrid Europe/Helsinki Europe/Paris Europe/London Africa/Accra',
  'Europe/Athens America/Guatemala Asia/Hong_Kong America/Tegucigalpa Europe/Zagreb Europe/Budapest',
  'Asia/Jakarta Asia/Makassar Asia/Jayapura Europe/Dublin Asia/Jerusalem Asia/Kolkata Asia/Baghdad',
  'Atlantic/Reykjavik Europe/Rome America/Jamaica Asia/Amman Asia/Tokyo Africa/Nairobi Asia/Seoul',
  'Asia/Kuwait Asia/Beirut Asia/Colombo Europe/Vilnius Europe/Luxembourg Europe/Riga Africa/Casablanca',
  'Europe/Skopje Europe/Malta Indian/Mauritius Indian/Maldives America/Tijuana America/Hermosillo',
  'America/Mazatlan America/Mexico_City Asia/Kuala_Lumpur Africa/Lagos America/Managua Europe/Amsterdam',
  'Europe/Oslo Pacific/Auckland Asia/Muscat America/Panama America/Lima Asia/Manila Asia/Karachi',
  'Europe/Warsaw America/Puerto_Rico Asia/Gaza Atlantic/Azores Europe/Lisbon America/Asuncion',
  'Asia/Qatar Europe/Bucharest Europe/Belgrade Europe/Kaliningrad Europe/Moscow Europe/Samara',
  'Asia/Yekaterinburg Asia/Omsk Asia/Krasnoyarsk Asia/Irkutsk Asia/Yakutsk Asia/Vladivostok',
  'Asia/Magadan Asia/Kamchatka Asia/Anadyr Asia/Riyadh Asia/Singapore Africa/Johannesburg',
  'Europe/Stockholm Asia/Taipei Africa/Dar_es_Salaam Asia/Bangkok Africa/Tunis Europe/Istanbul',
  'America/Montevideo America/Caracas Asia/Ho_Chi_Minh Africa/Kinshasa Africa/Lubumbashi Africa/Harare',
  'Africa/Lusaka',
].flatMap((line) => line.split(' '));
