"""What tests share: sessions to damage, the damage, and judges that share no code with the package."""
