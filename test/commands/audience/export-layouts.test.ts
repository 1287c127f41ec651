/** Files as other programs export them: nobody adapted them to this service. */
import { describe, expect, it } from 'vitest';
import { createCsvRowReader, createCsvTextDecoder } from '../../../src/commands/audience/csv.ts';
import { csvCandidateReader } from '../../../src/domain/audience/csv.ts';
import { guessColumns } from '../../../src/domain/audience/guess-columns.ts';

/** Reads a file as an upload, a preview without mapping and a preparation do. */
function read(bytes: Buffer) {
  const [decoder, reader] = [createCsvTextDecoder(), createCsvRowReader()];
  const rows = [...reader.write(decoder.write(bytes)), ...reader.write(decoder.end()), ...reader.end()];
  const [headers = [], ...cells] = rows.map((row) => ('cells' in row ? row.cells : []));
  const { mapping } = guessColumns(headers, cells);
  const candidate = csvCandidateReader(mapping, headers);
  const name = (column: number | null | undefined) => (column == null ? undefined : headers[column]);
  return {
    phone: name(mapping.phone_column),
    country:
      mapping.country_code_column === mapping.phone_column ? undefined : name(mapping.country_code_column),
    name: name(mapping.name_column),
    email: name(mapping.email_column),
    numbers: cells.map((row, at) => candidate(row, at + 2).phone?.digits),
    custom: Object.keys(mapping.custom_field_mapping ?? {}),
  };
}

const csv = (...lines: readonly string[]) => Buffer.from(lines.join('\r\n'));

describe('the columns and numbers of', () => {
  it('Google Contacts', () => {
    const found = read(
      csv(
        'First Name,Middle Name,Last Name,Phonetic First Name,Phonetic Middle Name,Phonetic Last Name,Name Prefix,Name Suffix,Nickname,File As,Organization Name,Organization Title,Organization Department,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value,Address 1 - Label,Address 1 - Formatted,Address 1 - Street,Address 1 - City,Address 1 - PO Box,Address 1 - Region,Address 1 - Postal Code,Address 1 - Country',
        'Ada,,Lovell,,,,Dr.,,,,Acme,,,1985-03-01,"Met, in\r\nBonn",,* myContacts,Work,ada@example.com,,,Mobile,+49 1512 3920001,Home,+49 30 901820,Home,"1 Road\n10115 Berlin",1 Road,Berlin,,,10115,DE',
        'Ben,,Otto,,,,,,,,,,,,,,* myContacts,,,,,Mobile,+49 1512 3920002,,,,,,,,,,',
        'Cem,,Demir,,,,,,,,,,,,,,* myContacts ::: * starred,,,,,Mobile,+90 532 123 45 67,,,,,,,,,,',
      ),
    );
    expect(found).toMatchObject({ phone: 'Phone 1 - Value', name: 'First Name', email: 'E-mail 1 - Value' });
    expect(found.numbers).toEqual(['4915123920001', '4915123920002', '905321234567']);
  });

  it('Outlook, whose home number is filled once', () => {
    const found = read(
      csv(
        'First Name,Middle Name,Last Name,Title,Suffix,Web Page,Birthday,Notes,E-mail Address,E-mail 2 Address,Primary Phone,Home Phone,Home Phone 2,Mobile Phone,Pager,Home Fax,Home Address,Home Street,Home City,Home State,Home Postal Code,Home Country,Company,Business Phone,Business Fax,Categories',
        'Ada,,Lovell,,,,,,ada@example.com,,,+49 30 901820,,+49 1512 3920001,,+49 30 901821,,,Berlin,,10115,Germany,Acme,,,',
        'Ben,,Otto,,,,,,ben@example.com,,,,,+49 1512 3920002,,,,,Hamburg,,20095,Germany,Acme,,,',
      ),
    );
    expect(found).toMatchObject({ phone: 'Mobile Phone', name: 'First Name', email: 'E-mail Address' });
    expect(found.numbers).toEqual(['4915123920001', '4915123920002']);
  });

  it('Shopify, with an apostrophe before each number', () => {
    const found = read(
      csv(
        'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags',
        "'7012345678901,Asha,Rao,asha@example.com,yes,,1 Road,,Pune,MH,IN,'411001,,'+919876511141,yes,120.00,3,,no,vip",
        "'7012345678902,Ravi,Shah,ravi@example.com,yes,,2 Road,,Pune,MH,IN,'411002,'+919876511152,'+919876511142,no,80.00,1,,no,",
        "'7012345678903,Mina,Das,mina@example.com,no,,3 Road,,Pune,MH,IN,'411003,,'+919876511143,yes,40.00,1,,no,",
      ),
    );
    expect(found).toMatchObject({ phone: 'Phone', name: 'First Name', email: 'Email' });
    expect(found.numbers).toEqual(['919876511141', '919876511142', '919876511143']);
    expect(found.country).not.toBe('Default Address Province Code');
  });

  it('HubSpot, with an owner, and numbers without their country', () => {
    const found = read(
      csv(
        'Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Contact owner,Lead Status,Country/Region,Create Date,Last Activity Date',
        '10001,Emma,Stone,emma@example.com,(0)1512 3920001,,Sam Lee,NEW,DE,2021-04-01 09:12,2024-03-05 14:22',
        '10002,Noor,Aziz,noor@example.com,0532 123 45 67,0532 123 45 67,Sam Lee,OPEN,TR,2021-04-02 09:12,2024-03-05 14:22',
        '10003,Ana,Sousa,ana@example.com,912 345 678,,Sam Lee,OPEN,PT,2021-04-03 09:12,',
        '10004,Bo,Li,bo@example.com,,,Sam Lee,OPEN,CN,2021-04-03 09:12,',
      ),
    );
    expect(found).toMatchObject({ phone: 'Phone Number', country: 'Country/Region', name: 'First Name' });
    expect(found.numbers).toEqual(['4915123920001', '905321234567', '351912345678', undefined]);
  });

  it('a broadcast tool for WhatsApp, as Excel for Windows saves it', () => {
    const text = [
      'sep=;',
      'phone_number;customer_name;header_variable;body_variable1;body_variable2',
      '6281234567890;Günter Öz;;A-1;10 €',
      '628111222333;Siti;;A-2;20 €',
    ].join('\r\n');
    const found = read(Buffer.from(`\uFEFF${text}`, 'utf16le'));
    expect(found).toMatchObject({ phone: 'phone_number', country: undefined, name: 'customer_name' });
    expect(found.numbers).toEqual(['6281234567890', '628111222333']);
  });

  it('an inbox with ids before the numbers', () => {
    const found = read(
      csv(
        'id,name,identifier,email,phone_number',
        '4915123920011,Ada,u-1,ada@example.com,+4915123920001',
        '4915123920012,Ben,u-2,,+4915123920002',
      ),
    );
    expect(found).toMatchObject({ phone: 'phone_number', name: 'name', email: 'email' });
  });
});
