import { cleanText } from '../domain/clean-text.ts';
import { type AccountTerms, isObject, type NumberHealth } from './provider.ts';

export const accountFields = 'currency,timezone_id';
export const ownerField = 'owner_business_info';

export function readAccountTerms(body: unknown): AccountTerms {
  const { currency, timezone_id: zone, owner_business_info: owner } = isObject(body) ? body : {};
  const isCode = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency);
  const portfolio = isObject(owner) ? owner['id'] : undefined;
  const portfolioId =
    (typeof portfolio === 'string' || typeof portfolio === 'number') && /^\d{1,32}$/.test(String(portfolio))
      ? String(portfolio)
      : null;
  return {
    currency: isCode ? currency : null,
    timeZone: timeZoneOf(zone),
    ...(portfolioId !== null && { portfolioId }),
  };
}

export const healthFields = 'quality_rating,health_status';
export const limitField = 'whatsapp_business_manager_messaging_limit';

const longestDetails = 500;
const qualityOf: Readonly<Record<string, NumberHealth['quality']>> = {
  RED: 'LOW',
  YELLOW: 'GOOD',
  GREEN: 'GOOD',
};

export function readNumberHealth(body: unknown): NumberHealth {
  const { quality_rating: rating, health_status: health, [limitField]: limit } = isObject(body) ? body : {};
  const { can_send_message: canSend, entities } = isObject(health) ? health : {};
  return {
    canSend: canSend === 'AVAILABLE' || canSend === 'LIMITED' || canSend === 'BLOCKED' ? canSend : null,
    details: detailsOf(entities),
    quality: typeof rating === 'string' ? (qualityOf[rating] ?? null) : null,
    messagingLimit: messagingLimitOf(limit),
  };
}

/** The errors and notes of number, account, portfolio and app, each once. */
function detailsOf(entities: unknown): string | null {
  const texts = (Array.isArray(entities) ? (entities as readonly unknown[]) : [])
    .filter(isObject)
    .flatMap((entity) => {
      const errors = Array.isArray(entity['errors']) ? (entity['errors'] as readonly unknown[]) : [];
      const notes = Array.isArray(entity['additional_info'])
        ? (entity['additional_info'] as readonly unknown[])
        : [];
      return [
        ...errors
          .filter(isObject)
          .flatMap(({ error_code: code, error_description: text, possible_solution: way }) =>
            typeof text === 'string'
              ? [
                  `${text}${code === undefined ? '' : ` (${String(code as number)})`}${typeof way === 'string' ? ` ${way}` : ''}`,
                ]
              : [],
          ),
        ...notes.filter((note) => typeof note === 'string'),
      ];
    });
  return texts.length === 0 ? null : cleanText([...new Set(texts)].join(' '), longestDetails);
}

/**
 * A messaging limit: `TIER_250`, `TIER_2K`, … `TIER_UNLIMITED`, `UNLIMITED`, or a number, where -1 means unlimited. Null: no limit;
 * undefined: none that can be read.
 */
export function messagingLimitOf(value: unknown): number | null | undefined {
  const text =
    typeof value === 'number' || typeof value === 'string' ? String(value).trim().toUpperCase() : '';
  const [, tier, thousands, unlimited, plain] =
    /^(?:TIER_(\d{1,7})(K?)|((?:TIER_)?UNLIMITED|-1)|(\d{1,10}))$/.exec(text) ?? [];
  if (unlimited !== undefined) return null;
  if (tier !== undefined) return Number(tier) * (thousands === 'K' ? 1000 : 1);
  const limit = Number(plain);
  return limit >= 1 && limit <= 2_147_483_647 ? limit : undefined;
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
