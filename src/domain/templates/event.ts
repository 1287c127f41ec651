import type { TemplateData } from '../../codecs/event.ts';
import type { NewEvent } from '../webhooks/new-event.ts';

/** The state of the template that a `template` event carries (Spec 6.3). */
export interface TemplateState {
  readonly id: string;
  readonly providerTemplateId: string;
  readonly name: string;
  readonly language: string;
  readonly status: string;
}

interface TemplateChange {
  readonly type: 'STATUS' | 'CATEGORY';
  readonly reason: string | null;
  /** The provider's explanation of the reason; set if a callback reported the change. */
  readonly remarks?: Pick<TemplateData, 'otherInfo' | 'rejectionInfo'>;
  readonly occurredAt: Date;
}

/** `template` is the state after the change. */
export const templateEvent = (
  template: TemplateState,
  { type, reason, remarks, occurredAt }: TemplateChange,
): NewEvent => ({
  eventKey: 'template',
  occurredAt,
  data: {
    type,
    providerTemplateId: template.providerTemplateId,
    newStatus: template.status,
    name: template.name,
    language: template.language,
    reason,
    ...remarks,
    template: {
      id: template.id,
      name: template.name,
      language: template.language,
      provider_template_id: template.providerTemplateId,
      provider_template_status: template.status,
    },
  },
});
