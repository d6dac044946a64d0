export * from '@isthmus/sdk/bridge';
