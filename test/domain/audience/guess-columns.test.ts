import { expect, it } from 'vitest';
import { guessColumns } from '../../../src/domain/audience/guess-columns.ts';

it('recognises columns by their headers and cells', () => {
  const { mapping, confidence } = guessColumns(
    ['Kunde', 'Stadt', 'Handy', 'Land', 'E-Mail'],
    [
      ['Ada Lovelace', 'Bonn', '0151 12345678', 'DE', 'ada@example.com'],
      ['Grace Hopper', 'Köln', '0151 12345679', '49', 'grace@example.com'],
    ],
  );
  expect(mapping).toEqual({
    phone_column: 2,
    country_code_column: 3,
    name_column: 0,
    email_column: 4,
    custom_field_mapping: { Stadt: 1 },
  });
  expect(confidence).toEqual({ phone_column: 1, country_code_column: 1, name_column: 1, email_column: 1 });
});

it('recognises numbers under a meaningless header, and needs no country column for international numbers', () => {
  const { mapping, confidence } = guessColumns(
    ['a', 'b'],
    [
      ['x', '+4915112345678'],
      ['y', '+919876543210'],
    ],
  );
  expect(mapping).toMatchObject({ phone_column: 1, country_code_column: 1 });
  expect(confidence['country_code_column']).toBe(1);
});

it('returns a low confidence for ambiguous columns', () => {
  const { mapping, confidence } = guessColumns(['a'], [['x']]);
  expect(mapping.phone_column).toBe(0);
  expect(confidence).toEqual({ phone_column: 0, country_code_column: 0 });
});

it('leaves out columns whose header is no name of a custom field', () => {
  const { mapping } = guessColumns(['phone', 'x'.repeat(256), '__proto__', 'city'], [['+4915112345678']]);
  expect(mapping.custom_field_mapping).toEqual({ city: 3 });
});

/** The guessed columns by their headers. */
function guess(headers: readonly string[], ...rows: readonly (readonly string[])[]) {
  const { mapping } = guessColumns(headers, rows);
  const { phone_column: phone, country_code_column: country, name_column: name } = mapping;
  return {
    phone: headers[phone],
    country: country === phone ? undefined : headers[country],
    name: name == null ? undefined : headers[name],
  };
}

const mobiles = (row: number) => `+4915123920${100 + row}`;
const rowsOf = (rows: number, cells: (row: number) => readonly string[]) =>
  Array.from({ length: rows }, (_, row) => cells(row));

it.each([
  ['Teléfono', ['DNI', 'Teléfono', 'Nombre']],
  ['MÓVIL', ['NIF', 'MÓVIL', 'Nombre']],
  ['fone', ['cpf', 'fone', 'nome']],
  ['Телефон', ['Номер', 'Телефон', 'Имя']],
  ['電話番号', ['番号', '電話番号', '氏名']],
  ['هاتف', ['رقم', 'هاتف', 'الاسم']],
  ['cep no', ['tc', 'cep no', 'isim']],
  ['whatsappNumber', ['number', 'whatsappNumber', 'customer']],
  ['Phone (with country code)', ['Order number', 'Phone (with country code)', 'Full Name']],
])('takes %s for the phone, not an identity number', (phone, headers) => {
  expect(guess(headers, ...rowsOf(3, (row) => [`3012345${row}`, mobiles(row), 'Ada']))).toEqual({
    phone,
    country: undefined,
    name: headers[2],
  });
});

it('takes the column by which most rows can be written to', () => {
  const headers = ['Home Phone', 'Mobile', 'Other'];
  expect(guess(headers, ...rowsOf(10, (row) => [row === 0 ? mobiles(1) : '', mobiles(row), ''])).phone).toBe(
    'Mobile',
  );
  expect(guess(headers, ...rowsOf(10, (row) => ['', row === 0 ? mobiles(1) : '', mobiles(row)])).phone).toBe(
    'Other',
  );
});

it('prefers mobile numbers to fixed lines under the same header', () => {
  const rows = rowsOf(5, (row) => [`+493090182${row}`, mobiles(row)]);
  expect(guess(['Phone 1', 'Phone 2'], ...rows).phone).toBe('Phone 2');
});

it.each([
  ['CPF', ['52998224725', '11144477735', '39053344705', '86288366757', '12345678909']],
  ['CUIT', ['20123456786', '27234567891', '20267565393', '30500010912', '33693450239']],
  [
    'cards',
    ['4111111111111111', '5500005555555559', '4012888888881881', '6011000990139424', '5105105105105100'],
  ],
  [
    'running numbers',
    ['4915123920101', '4915123920102', '4915123920103', '4915123920104', '4915123920105', '4915123920106'],
  ],
  ['dates', ['2026-11-01', '2026-11-02', '2026-11-05', '2026-11-09', '2026-11-28']],
])('takes no column of %s for the phone', (_, ids) => {
  const numbers = [
    '+5511987654321',
    '+5521998765432',
    '+5531987651234',
    '+5541999887766',
    '+5551998112233',
    '+5561999001122',
  ];
  expect(guess(['a', 'b'], ...ids.map((id, row) => [id, numbers[row] ?? ''])).phone).toBe('b');
});

it('takes no language or state for the country', () => {
  const rows = rowsOf(5, (row) => [mobiles(row), 'es', 'CA', 'Germany']);
  expect(guess(['telefono', 'idioma', 'province code', 'x'], ...rows).country).toBeUndefined();
});

it('takes the country column that adds most rows, whatever it is called', () => {
  const rows = rowsOf(5, (row) => [`01512392010${row}`, 'DE', '30', 'US']);
  expect(guess(['phone', 'c', 'floor', 'made in'], ...rows).country).toBe('c');
});

it('leaves a country column out that makes rows unreadable', () => {
  const rows = rowsOf(5, (row) => [mobiles(row).slice(1), 'Atlantis']);
  expect(guess(['phone', 'country'], ...rows).country).toBeUndefined();
});

it('tells columns of one name apart', () => {
  const { mapping } = guessColumns(['phone', 'city', 'city', ' ', 'city'], [['+4915123920101']]);
  expect(mapping.custom_field_mapping).toEqual({ city: 1, 'city 2': 2, 'city 3': 4 });
});

it('takes no owner, company or consent for the name or the e-mail address', () => {
  const headers = [
    'Contact owner',
    'Company name',
    'Accepts Email Marketing',
    'phone',
    'Email',
    'Given Name',
  ];
  const { mapping } = guessColumns(headers, [['Sam', 'Acme', 'yes', mobiles(1), 'a@b.de', 'Ada']]);
  expect(mapping).toMatchObject({ name_column: 5, email_column: 4 });
});

it('takes the name under which an address book has saved a person', () => {
  const headers = ['Country Code', 'Phone Number', 'Saved Name', 'Public Name'];
  const { mapping } = guessColumns(headers, [['49', '15123920101', 'Ada', '~ada']]);
  expect(mapping).toMatchObject({ phone_column: 1, country_code_column: 0, name_column: 2 });
});
