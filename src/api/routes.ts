/** Every operation of the API, in the order of the document. */
import {
  deleteSendingWindow,
  getDefaultCountry,
  getFailureBrake,
  getFrequencyCapEndpoint,
  getSendingWindow,
  listAudit,
  listNoticesEndpoint,
  putDefaultCountry,
  putFailureBrake,
  putFrequencyCap,
  putSendingWindow,
  readNotices,
} from './workspace.ts';
import { getOverview } from './overview.ts';
import { checkNewCampaign, createCampaign } from './campaigns/create.ts';
import { deleteCsvFile, getCsvFile, previewCsvFile, uploadCsvFile } from './campaigns/csv-files.ts';
import { getCampaignDiagnosis, getCampaignTimeline, streamCampaign } from './campaigns/follow.ts';
import { getCampaignRecipient, listCampaignRecipients } from './campaigns/recipients.ts';
import {
  cancelCampaignEndpoint,
  pauseCampaignEndpoint,
  startCampaign,
  testCampaignEndpoint,
  updateCampaign,
} from './campaigns/operate.ts';
import { getCampaign, listCampaigns } from './campaigns/report.ts';
import { getChannel, listChannels } from './channels.ts';
import {
  createContact,
  deleteContact,
  exportContactEndpoint,
  getContact,
  listContacts,
  updateContact,
} from './contacts.ts';
import {
  cancelContactImport,
  createContactImport,
  getContactImport,
  listContactImportRows,
  listContactImports,
} from './contact-imports.ts';
import {
  getConsentPolicyEndpoint,
  listConsentRegister,
  listContactConsents,
  putConsentPolicy,
  recordContactConsent,
} from './consents.ts';
import {
  assignConversation,
  changeConversationStatus,
  getConversation,
  listContactHistory,
  listConversationMessages,
  listConversations,
} from './conversations.ts';
import { listContactFields, updateContactField } from './contact-fields.ts';
import { deleteNoticeTarget, getNoticeTarget, putNoticeTarget } from './notice-target.ts';
import { documentation } from './frame/document/docs-page.ts';
import type { Endpoint } from './frame/endpoint.ts';
import { healthz, metricsEndpoint, readyz } from './frame/health.ts';
import {
  getPayloadSkeleton,
  getTemplate,
  getTemplateVariables,
  listTemplates,
  previewTemplate,
  syncTemplates,
  unpauseTemplate,
  uploadMediaFile,
} from './templates.ts';
import { listRequestsEndpoint } from './requests.ts';
import { explainMessage, getMessageEndpoint, listMessagesEndpoint, sendMessage } from './messages.ts';
import { receiveProviderCallback, verifyProviderWebhook } from './provider-webhook.ts';
import {
  countSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from './segments.ts';
import { createTag, deleteTag, getTag, listTags, updateTag } from './tags.ts';
import { createPrices, getPrices, listPrices } from './prices.ts';
import {
  getWallet,
  getWalletStatement,
  listWalletComparison,
  listWalletEntries,
  putLowBalance,
  rechargeWallet,
} from './wallet.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookEvents,
  listWebhooks,
  readWebhookHealth,
  updateWebhook,
} from './webhooks/configurations.ts';
import { getEventFeed, listEvents, putEventFeed } from './webhooks/event-feed.ts';
import {
  getWebhookDelivery,
  listDeliveries,
  listWebhookDeliveries,
  resendFailed,
  resendWebhookDelivery,
  testWebhook,
} from './webhooks/deliveries.ts';
import { cancelResend, getResend, listResends, resendMissed } from './webhooks/resends.ts';

const operations: readonly Endpoint[] = [
  createCampaign,
  checkNewCampaign,
  uploadCsvFile,
  getCsvFile,
  deleteCsvFile,
  previewCsvFile,
  listCampaigns,
  getOverview,
  getCampaign,
  updateCampaign,
  getCampaignTimeline,
  getCampaignDiagnosis,
  streamCampaign,
  listCampaignRecipients,
  getCampaignRecipient,
  startCampaign,
  pauseCampaignEndpoint,
  cancelCampaignEndpoint,
  testCampaignEndpoint,
  listTemplates,
  syncTemplates,
  unpauseTemplate,
  getTemplate,
  previewTemplate,
  getTemplateVariables,
  getPayloadSkeleton,
  sendMessage,
  listMessagesEndpoint,
  getMessageEndpoint,
  explainMessage,
  uploadMediaFile,
  listTags,
  createTag,
  getTag,
  updateTag,
  deleteTag,
  listContacts,
  createContact,
  getContact,
  updateContact,
  deleteContact,
  exportContactEndpoint,
  listContactConsents,
  recordContactConsent,
  listConsentRegister,
  listContactHistory,
  listContactFields,
  updateContactField,
  listContactImports,
  createContactImport,
  getContactImport,
  listContactImportRows,
  cancelContactImport,
  listSegments,
  createSegment,
  countSegment,
  getSegment,
  updateSegment,
  deleteSegment,
  listConversations,
  getConversation,
  listConversationMessages,
  assignConversation,
  changeConversationStatus,
  listChannels,
  getChannel,
  getDefaultCountry,
  putDefaultCountry,
  getConsentPolicyEndpoint,
  putConsentPolicy,
  getFailureBrake,
  putFailureBrake,
  getFrequencyCapEndpoint,
  putFrequencyCap,
  getSendingWindow,
  putSendingWindow,
  deleteSendingWindow,
  getWallet,
  rechargeWallet,
  putLowBalance,
  getWalletStatement,
  listWalletEntries,
  listWalletComparison,
  listPrices,
  getPrices,
  createPrices,
  listAudit,
  listRequestsEndpoint,
  listNoticesEndpoint,
  readNotices,
  getNoticeTarget,
  putNoticeTarget,
  deleteNoticeTarget,
  verifyProviderWebhook,
  receiveProviderCallback,
  createWebhook,
  listWebhooks,
  listWebhookEvents,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  readWebhookHealth,
  testWebhook,
  listWebhookDeliveries,
  listDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  resendFailed,
  resendMissed,
  listResends,
  getResend,
  cancelResend,
  getEventFeed,
  putEventFeed,
  listEvents,
  healthz,
  readyz,
  metricsEndpoint,
];

export const routes: readonly Endpoint[] = [...operations, ...documentation(operations)];
